# SPDX-License-Identifier: MIT
# The generated parts of docs/ and the annotation file; spec/docs/docs_spec.lua fails when they are not what this makes.
.PHONY: docs
docs: $(BUILD)/purser/core.so
	@$(LUA) tools/docs.lua
