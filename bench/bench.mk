# Rules for the programs that `bench/` measures against, one block a topic.

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
	@REPORT=$(BUILD)/bench-decode.tsv LUA_PATH="$(CURDIR)/?.lua;$(LUA_PATH)" $(LUA) bench/decode.lua

$(BUILD)/floor_decode.so: bench/floor_decode.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(STRICT) $(LUA_CFLAGS) -Isrc/bind $(SHARED) -o $@ $<

# transport
.PHONY: bench-transport bench-transport-one

bench-transport:
	@tools/setup build test bench hosts
	@$(MAKE) --no-print-directory bench-transport-one

bench-transport-one: all $(BUILD)/bench/floor_http
	@mkdir -p build/bench
	@LUA_PATH="$(CURDIR)/?.lua;$(CURDIR)/spec/support/?.lua;$(LUA_PATH)" $(LUA) bench/transport.lua $(ROUNDS) \
		build/bench/transport-$(LUA).tsv

$(BUILD)/bench/floor_http: bench/floor_http.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -std=c99 -D_DEFAULT_SOURCE $(WARN) $(shell pkg-config --cflags libcurl) -o $@ $< \
		$(shell pkg-config --libs libcurl)
# transport: end
# The walk over 200,000 deposits; `make test` does it over 20,000.
.PHONY: histories
histories: all
	@PURSER_RECORDS=200000 LUA_PATH="$(CURDIR)/spec/support/?.lua;$(LUA_PATH)" $(LUA) /usr/bin/busted spec/history_spec.lua
