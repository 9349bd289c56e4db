# SPDX-License-Identifier: MIT
# The rate limit against real servers, and what it costs (docs/client/limits.md).
#   make limits-test         SQLite, Redis, PostgreSQL and nginx, each by a server of the test's own; the rehearsal
#   make limits-test SEEDS=100   more runs of the rehearsal on virtual time
#   make bench-limits        a reservation in process, in Redis and in nginx
.PHONY: limits-test bench-limits

limits-test:
	@tools/setup build test hosts torture
	@$(MAKE) -s hosts-build
	@export LUA_PATH="$(CURDIR)/spec/support/?.lua;$(LUA_PATH)" PURSER_SEEDS=$(if $(filter command,$(origin SEEDS)),$(SEEDS),4); \
	$(LUA) /usr/bin/busted --output=TAP --pattern=rate_limit.*_spec spec/client/call && \
	$(LUA) /usr/bin/busted --output=TAP spec/client/call/rate_limit && \
	$(LUA) /usr/bin/busted --output=TAP --pattern=limits_.*_test spec/hosts && \
	$(LUA) /usr/bin/busted --output=TAP spec/torture/limits_on_postgresql.lua

bench-limits:
	@tools/setup build test bench hosts
	@$(MAKE) -s all && $(MAKE) -s LUA=luajit BUILD=build/luajit all
	@mkdir -p build/bench
	@$(LUA) bench/limits.lua $(or $(ROUNDS),60) build/bench/limits-$(LUA).tsv
