# SPDX-License-Identifier: MIT
# Programs that embed a Lua and the module, for what cannot be seen from a script: one a file, run with the C tests.
LUA_LIBS     = $(shell pkg-config --libs $(LUA))
C_LUA_TESTS := $(patsubst spec/c_lua/%.c,$(BUILD)/spec/%,$(wildcard spec/c_lua/test_*.c))

c-tests: $(C_LUA_TESTS)

$(BUILD)/spec/%: spec/c_lua/%.c spec/c_lua/failing.h $(CORE_OBJECTS) $(BIND_OBJECTS)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(STRICT) $(LUA_CFLAGS) -Isrc/core -Isrc/bind -MMD -MP -o $@ $< $(CORE_OBJECTS) $(BIND_OBJECTS) \
	  -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc $(LDFLAGS) $(LUA_LIBS) $(CORE_LIBS) $(HTTP_LIBS)
