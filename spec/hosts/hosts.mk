# SPDX-License-Identifier: MIT
# Programs that have Purser inside, and their tests.

#   make hosts-test   nginx, libuv, Neovim, cqueues, a frame loop
#   make hosts-all    each page of docs/hosts in its real host: LÖVE, copas, Minetest, too
.PHONY: hosts-test hosts-build hosts-all

hosts-test:
	@tools/setup build test hosts
	@$(MAKE) -s hosts-build
	@$(RUN_TESTS) room $(wildcard spec/hosts/*_test.lua)

hosts-all:
	@tools/setup build test versions hosts hosts-all
	@$(MAKE) -s hosts-build bundle
	@$(call FOR_SPECS,lua5.2)
	@$(RUN_TESTS) room spec/hosts

# nginx has LuaJIT; the frame loop has Lua 5.4, once as it is and once for ThreadSanitizer.
hosts-build: build/lua5.4/examples/host build/tsan/examples/host
	@$(MAKE) -s LUA=lua5.4 BUILD=build/lua5.4 all
	@$(MAKE) -s LUA=luajit BUILD=build/luajit all
	@$(MAKE) -s LUA=lua5.4 BUILD=build/tsan CFLAGS="-O1 -g -fsanitize=thread" LDFLAGS=-fsanitize=thread build/tsan/purser/core.so build/tsan/purser/http.so

HOST = $(CC) -std=c99 -D_POSIX_C_SOURCE=200809L $(WARN) $(shell pkg-config --cflags lua5.4)

build/lua5.4/examples/host: examples/host/host.c
	@mkdir -p $(@D)
	$(HOST) $(CFLAGS) -o $@ $< $(shell pkg-config --libs lua5.4) -lpthread

build/tsan/examples/host: examples/host/host.c
	@mkdir -p $(@D)
	$(HOST) -O1 -g -fsanitize=thread -o $@ $< $(shell pkg-config --libs lua5.4) -lpthread
