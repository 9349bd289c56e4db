# SPDX-License-Identifier: MIT
# make duel: 200 payments by each client under the same faults, one table (docs/duel.md); DUEL_PAYMENTS, DUEL_SEED and
# REPEATED_IDS change it. npm puts the clients into build/ once; it needs the network for that alone.
.PHONY: duel

DUEL_PACKAGES := $(shell sed -n 's|^// npm: ||p' bench/duel/clients/*.mjs)
DUEL          := build/duel/node_modules/.package-lock.json

$(DUEL): $(wildcard bench/duel/clients/*.mjs)
	@command -v npm >/dev/null && command -v node >/dev/null || tools/setup npm
	@mkdir -p build/duel
	@npm install --prefix build/duel --ignore-scripts --no-audit --no-fund --no-save --loglevel=error $(DUEL_PACKAGES)
	@touch $@

duel:
	@tools/setup build test
	@$(MAKE) --no-print-directory LUA=lua5.4 BUILD=build/lua5.4 all $(DUEL)
	@LUA_CPATH="$(CURDIR)/build/lua5.4/?.so;;" lua5.4 bench/duel/run.lua $(or $(DUEL_PAYMENTS),200) $(or $(DUEL_SEED),7) \
		$(or $(REPEATED_IDS),execute)
