# SPDX-License-Identifier: MIT
# The simulator's page in a headless Chromium. Leaves its pictures in build/.

.PHONY: console-test console-pictures

console-test:
	@tools/setup build test browser
	@$(MAKE) --no-print-directory all $(AXE)
	@mkdir -p build
	@$(LUA) /usr/bin/busted spec/browser/console_test.lua spec/browser/other_origin_test.lua

# Makes the pictures of docs/testing/simulator.md.
console-pictures:
	@tools/setup build test browser
	@$(MAKE) --no-print-directory all
	@mkdir -p build
	@$(LUA) /usr/bin/busted --filter-out=axe.core spec/browser/console_test.lua
	@cp build/console.png build/console-narrow.png docs/testing/
