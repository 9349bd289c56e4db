# SPDX-License-Identifier: MIT
# Purser inside other programs (docs/hosts/hosts.md).
#   make bundle   build/bundle/purser.lua: all Lua modules in one file, for hosts with one script
#   make static   build/LUA/libpurser.a, with the Lua modules inside, and build/LUA/purser.pc for pkg-config
.PHONY: bundle static embed-test

bundle: build/bundle/purser.lua

BUNDLED := $(shell find lua -name '*.lua')

build/bundle/purser.lua: tools/bundle.lua $(BUNDLED)
	@mkdir -p $(@D)
	$(LUA) tools/bundle.lua >$@.part && mv $@.part $@

static: $(BUILD)/libpurser.a $(BUILD)/purser.pc

$(BUILD)/embed/bundle.c: tools/bundle.lua $(BUNDLED)
	@mkdir -p $(@D)
	$(LUA) tools/bundle.lua c >$@.part && mv $@.part $@

$(BUILD)/embed/bundle.o: $(BUILD)/embed/bundle.c
	$(CC) $(CFLAGS) $(STRICT) -c -o $@ $<

$(BUILD)/embed/embed.o: src/embed/embed.c Makefile
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(STRICT) $(LUA_CFLAGS) -Isrc/bind -c -o $@ $<

# Made anew, since `ar` would keep the members of files that are gone; D leaves out times and users.
$(BUILD)/libpurser.a: $(CORE_OBJECTS) $(BIND_OBJECTS) $(BUILD)/embed/embed.o $(BUILD)/embed/bundle.o
	rm -f $@
	$(AR) rcsD $@ $^

# libpurser.a is used where it was built; a package that installs it gives its own `prefix`.
$(BUILD)/purser.pc: lua/purser/version.lua tools/embed.mk
	@mkdir -p $(@D)
	@printf '%s\n' 'prefix=$${pcfiledir}' 'libdir=$${prefix}' '' 'Name: purser' \
	  'Description: account-management client for the MEXC Spot v3 API, as a static library for $(LUA)' \
	  "Version: $$($(LUA) -e 'print(dofile "lua/purser/version.lua")')" 'Requires: $(LUA) libcurl libcrypto' \
	  'Libs: -L$${libdir} -lpurser -lpthread' >$@

# A program that links it and has no Lua file beside it.
$(BUILD)/spec/embed: spec/support/embed.c $(BUILD)/libpurser.a $(BUILD)/purser.pc
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -std=c99 $(WARN) -o $@ $< \
	  $$(PKG_CONFIG_PATH=$(BUILD):$$PKG_CONFIG_PATH pkg-config --cflags --libs purser) $(LDFLAGS)
