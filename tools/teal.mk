# SPDX-License-Identifier: MIT
# The declarations for Teal, by Teal's compiler, which Debian does not package: `make teal-test TL=/path/to/tl`.
.PHONY: teal-test
TL ?= tl

teal-test:
	@tools/teal "$(TL)"
