# SPDX-License-Identifier: MIT
# Measurements, and rules for the programs they measure against. What they measured is in build/bench/ as tab-separated
# text. `make bench-all` compares Purser with others; SECONDS_LONG=60 makes it shorter.
.PHONY: bench-all bench-instructions

bench-all: bench-setup
	@LUA_PATH="$(CURDIR)/?.lua;$(CURDIR)/spec/support/?.lua;$(LUA_PATH)" $(LUA) bench/all.lua $(or $(SECONDS_LONG),120) \
		build/bench/all-$(LUA).tsv

# Purser as `make install` leaves it stands in build/*/bench/installed.
.PHONY: bench-setup
bench-setup:
	@tools/setup build test bench hosts
	@$(MAKE) -s all $(BUILD)/bench/floor_http
	@rm -rf $(BUILD)/bench/installed && mkdir -p build/bench $(BUILD)/bench/installed
	@cp -R lua/purser $(BUILD)/bench/installed/ && $(LUA) tools/archive.lua $(BUILD)/bench/installed/purser

$(BUILD)/bench/floor_http: bench/floor_http.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -std=c99 -D_DEFAULT_SOURCE $(WARN) $(shell pkg-config --cflags libcurl) -o $@ $< \
		$(shell pkg-config --libs libcurl)

# Instructions do not depend on who else uses the machine, so small changes show.
bench-instructions: bench-setup
	@LUA_PATH="$(CURDIR)/?.lua;$(CURDIR)/spec/support/?.lua;$(LUA_PATH)" $(LUA) bench/instructions.lua \
		build/bench/instructions-$(LUA).tsv $(or $(ROUNDS),1)

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
	@PURSER_RECORDS=200000 LUA_PATH="$(CURDIR)/spec/support/?.lua;$(LUA_PATH)" $(LUA) /usr/bin/busted spec/client/history/history_spec.lua
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

# scale: the growth of costs, each work at a size and at four times that size
.PHONY: bench-scale

bench-scale:
	@tools/setup build test
	@$(MAKE) -s all
	@mkdir -p build/bench
	@LUA=$(LUA) LUA_PATH="$(CURDIR)/?.lua;$(CURDIR)/spec/support/?.lua;$(LUA_PATH)" $(LUA) bench/scale.lua \
		build/bench/scale-$(LUA).txt $(if $(WORK),"$(WORK)")

# frames: the turns of a frame loop, by the sizes of answers
.PHONY: bench-frames

bench-frames:
	@tools/setup build test bench hosts
	@$(MAKE) -s all
	@LUA_PATH="$(CURDIR)/?.lua;$(CURDIR)/spec/support/?.lua;$(LUA_PATH)" $(LUA) bench/frames.lua $(or $(BUDGET_US),1000) \
		$(or $(ROUNDS),5)
