# SPDX-License-Identifier: MIT
# make ccxt-test: the npm package ccxt, unchanged, against the simulator. npm puts it into build/ once; it needs the
# network for that alone.
.PHONY: ccxt-test

CCXT_VERSION := 4.5.84

build/ccxt/node_modules/ccxt/package.json:
	@mkdir -p build/ccxt
	@npm install --prefix build/ccxt --ignore-scripts --no-audit --no-fund --no-save --loglevel=error ccxt@$(CCXT_VERSION)

ccxt-test:
	@command -v npm >/dev/null && command -v node >/dev/null || tools/setup ccxt
	@tools/setup build test
	@$(MAKE) --no-print-directory all build/ccxt/node_modules/ccxt/package.json
	@cp spec/ccxt/unified.mjs build/ccxt/
	@$(LUA) /usr/bin/busted spec/ccxt/unified_test.lua
