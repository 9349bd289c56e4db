# SPDX-License-Identifier: MIT
# The simulator's page in a headless Chromium. Leaves its pictures in build/.

.PHONY: console-test

console-test:
	@tools/setup build test browser
	@$(MAKE) --no-print-directory all $(AXE)
	@mkdir -p build
	@$(LUA) /usr/bin/busted spec/browser/console_test.lua spec/browser/other_origin_test.lua
