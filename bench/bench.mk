# SPDX-License-Identifier: MIT
# Measurements, and rules for the programs they measure against, one block a topic. `make bench` runs all; what it
# measured is in build/bench/ as tab-separated text.
.PHONY: bench bench-sign bench-instructions

bench: bench-sign bench-decode bench-transport bench-start

bench-sign:
	@tools/setup build bench
	@$(MAKE) -s all $(BUILD)/bench/floor_sign
	@mkdir -p build/bench
	@$(LUA) bench/sign.lua $(BUILD)/bench/floor_sign 9 build/bench/sign-$(LUA).tsv

# Instructions do not depend on who else uses the machine, so small changes show.
bench-instructions:
	@tools/setup build test bench hosts
	@$(MAKE) -s all $(BUILD)/bench/floor_http
	@mkdir -p build/bench
	@LUA_PATH="$(CURDIR)/?.lua;$(CURDIR)/spec/support/?.lua;$(LUA_PATH)" $(LUA) bench/instructions.lua \
		build/bench/instructions-$(LUA).tsv

# sign
$(BUILD)/bench/floor_sign: bench/floor_sign.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -std=c99 -D_POSIX_C_SOURCE=200809L $(WARN) $(shell pkg-config --cflags libcrypto) -o $@ $< \
		$(shell pkg-config --libs libcrypto)
# sign: end
# decode
# The floor is built beside the module, once for each Lua.
.PHONY: bench-decode bench-decode-one

bench-decode:
	@tools/setup build bench
	@$(MAKE) --no-print-directory LUA=lua5.4 BUILD=build/lua5.4 bench-decode-one
	@$(MAKE) --no-print-directory LUA=luajit BUILD=build/luajit bench-decode-one

bench-decode-one: $(BUILD)/purser/core.so $(BUILD)/floor_decode.so
	@mkdir -p build/bench
	@REPORT=build/bench/decode-$(LUA).tsv LUA_PATH="$(CURDIR)/?.lua;$(LUA_PATH)" $(LUA) bench/decode.lua

$(BUILD)/floor_decode.so: bench/floor_decode.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(STRICT) $(LUA_CFLAGS) -Isrc/bind $(SHARED) -o $@ $<

# The walk over 200,000 deposits; `make test` does it over 20,000.
.PHONY: histories
histories: all
	@PURSER_RECORDS=200000 LUA_PATH="$(CURDIR)/spec/support/?.lua;$(LUA_PATH)" $(LUA) /usr/bin/busted spec/history/history_spec.lua
# transport
.PHONY: bench-transport bench-transport-one

bench-transport:
	@tools/setup build test bench hosts
	@$(MAKE) --no-print-directory bench-transport-one

bench-transport-one: all $(BUILD)/bench/floor_http
	@rm -rf $(BUILD)/bench/installed && mkdir -p build/bench $(BUILD)/bench/installed
	@cp -R lua/purser $(BUILD)/bench/installed/ && $(LUA) tools/archive.lua $(BUILD)/bench/installed/purser
	@LUA_PATH="$(CURDIR)/?.lua;$(CURDIR)/spec/support/?.lua;$(LUA_PATH)" $(LUA) bench/transport.lua $(or $(ROUNDS),7) \
		build/bench/transport-$(LUA).tsv

$(BUILD)/bench/floor_http: bench/floor_http.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -std=c99 -D_DEFAULT_SOURCE $(WARN) $(shell pkg-config --cflags libcurl) -o $@ $< \
		$(shell pkg-config --libs libcurl)
# transport: end
# start: what TLS adds to a start, with the system's authorities
.PHONY: bench-start

bench-start:
	@tools/setup build test bench hosts
	@$(MAKE) -s all $(BUILD)/bench/floor_http
	@mkdir -p build/bench
	@LUA_PATH="$(CURDIR)/?.lua;$(CURDIR)/spec/support/?.lua;$(LUA_PATH)" $(LUA) bench/start.lua $(or $(ROUNDS),15) \
		build/bench/start-$(LUA).tsv

# openresty: the two ways to wait inside nginx
.PHONY: bench-openresty

bench-openresty:
	@tools/setup build test bench hosts
	@$(MAKE) -s LUA=lua5.4 BUILD=build/lua5.4 all
	@$(MAKE) -s LUA=luajit BUILD=build/luajit all
	@LUA_PATH="$(CURDIR)/?.lua;$(CURDIR)/spec/support/?.lua;$(LUA_PATH)" $(LUA) bench/openresty.lua $(or $(ROUNDS),3)

# journal: a large one beside a small one, on SQLite and on PostgreSQL
.PHONY: bench-journal

bench-journal:
	@tools/setup build bench test torture
	@$(MAKE) -s all
	@mkdir -p build/bench
	@LUA_PATH="$(CURDIR)/?.lua;$(CURDIR)/spec/support/?.lua;$(LUA_PATH)"; export LUA_PATH; \
	$(LUA) bench/journal.lua sqlite $(or $(ROUNDS),9) build/bench/journal-sqlite.tsv && \
	$(LUA) bench/journal.lua postgresql $(or $(ROUNDS),9) build/bench/journal-postgresql.tsv
