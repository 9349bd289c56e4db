# SPDX-License-Identifier: MIT
# Purser's build. `make demo` and `make test` install what is missing by themselves; the other targets expect it there.
#
#   make demo       set up, build, and run examples/tour.lua against the simulator over HTTP
#   make test       set up, build, lint, C tests, every spec on Lua 5.4, money and core on LuaJIT; in minutes
#   make test ROOM=cli   a room of spec/, a folder or a file; with LUA=luajit on LuaJIT. Closes with `N passed, N failed`
#   make test-all   the rest: specs on the other Luas (tools/test_stages.lua), hosts, torture, browsers, sanitizers
#   make spec SPEC=spec/client/call   a folder or a file in one process; prints the name of each test as it ends
#   make            build for one Lua (LUA=lua5.1|lua5.2|lua5.3|lua5.4|lua5.5|luajit, default lua5.4)
#   make lint       luacheck, and the C sources once more with every warning an error
#   make install    into PREFIX (default /usr/local); make uninstall
#   make bundle, static   all Lua in one file; libpurser.a with a pkg-config file (docs/hosts/hosts.md)
#   make deb, deb-test   Debian packages in build/deb; their installation in a clean chroot (as root)
#   make test-platforms   i386, arm64, s390x, clang, musl: every warning an error, by cross compilers and qemu-user
#   make dist       a release in build/dist: archive, list of parts (SPDX), checksums; the same bytes every time
#   make reproducible, checksec   two clones build the same bytes; what the linker and compiler harden
#   make docs       the generated parts of docs/, the annotation file and the lists in the rockspecs
#   make site, site-test   these pages as HTML with a search, in build/site; every link of them, in a headless browser too
#   make hosts-test, console-test   nginx, the frame loop and libuv alone; the simulator's page in a headless browser
#   make hosts-all  each page of docs/hosts in its real host: LÖVE, copas, Minetest ...
#   make examples-hardest   the examples with every switch of the simulator at its hardest
#   make ccxt-test  ccxt, an independent client in JavaScript, against the simulator (npm fetches it once)
#   make rock-test  pack with LuaRocks, install into an empty tree offline, run the tour from there
#   make torture    payments at a service that answers badly, by workers that are killed (docs/contributing/payouts-tests.md); minutes
#   make mutants ROOM=write   small random changes of the code, and those that no spec of the module notices
#   make walks      histories of 2,000 services drawn at random (docs/client/histories.md)
#   make rehearse   the same on virtual time, SEEDS=1000 runs of it
#   make asan, valgrind, gc, fuzz, soak   the suite under tools that see more (docs/contributing/hardening.md); minutes
#   make limits-test   the rate limit against real servers; bench-limits: what it costs (docs/client/limits.md)
#   make silence    withdrawals over a network that drops packets without a word (docs/write/outcomes.md); as root
#   make bench-all  Purser beside libcurl, luasocket, lua-http and ccxt, one table (docs/contributing/performance.md); 3 minutes
#   make duel       ccxt, the vendor's SDK, curl and others and Purser under the same faults: who pays twice (docs/duel.md)
#   make bench-scale  each work at a size and at four times that size: what grows faster than its work fails
#   make bench-frames   the turns of a frame loop, by the sizes of answers
#   make bench-instructions, bench-decode, bench-openresty   parts of a call; the decoder; nginx, event loop and threads
#   make clean

LUA     ?= lua5.4
PREFIX  ?= /usr/local
BUILD   ?= build/$(LUA)

KNOWN   := lua5.1 lua5.2 lua5.3 lua5.4 lua5.5 luajit
ifeq ($(filter $(LUA),$(KNOWN)),)
$(error LUA=$(LUA): no such Lua is known; give one of $(KNOWN))
endif

CFLAGS  ?= -O2 -g
WARN    := -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wconversion
# Sanitizers see less through FORTIFY's checked functions, and it wants an optimised build.
UNCHECKED := $(findstring -fsanitize,$(CC) $(CFLAGS))$(filter -O0,$(CFLAGS))
HARDEN  := -fstack-protector-strong $(if $(UNCHECKED),,-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
# The same bytes wherever the clone lies: debug information has paths from the clone on. The shell knows the folder by
# the name that the compiler uses for it.
# A host whose Lua was built as C++ throws through Purser's frames: they need tables for that on every processor.
STRICT   = -std=c99 -D_POSIX_C_SOURCE=200809L -fPIC -fexceptions -fvisibility=hidden $(HARDEN) "-ffile-prefix-map=$$PWD=." \
  $(WARN) $(EXTRA_CFLAGS)

LUA_CFLAGS   = $(shell pkg-config --cflags $(LUA))
CORE_CFLAGS  = $(shell pkg-config --cflags libcrypto; pkg-config --cflags libcurl 2>/dev/null)
CORE_LIBS    = $(shell pkg-config --libs libcrypto)
HTTP_LIBS    = $(shell pkg-config --libs libcurl libcrypto) -lpthread
# Names of the libraries that libcurl needs, each with a comma: none where libcurl has a folder of its own to look in.
LIBCURL_NEEDS = $(shell readelf -d "$$(pkg-config --variable=libdir libcurl)/libcurl.so" 2>/dev/null \
  | awk -F '[][]' '/R(UN)?PATH/ { own = 1 } /NEEDED/ { all = all "\"" $$2 "\"," } END { if (!own) print all }')
HTTPD_CFLAGS = $(shell pkg-config --cflags libmicrohttpd)
HTTPD_LIBS   = $(shell pkg-config --libs libmicrohttpd)

ifeq ($(shell uname -s),Darwin)
SHARED := -bundle -undefined dynamic_lookup
else
# Never unmapped: Lua 5.1 and LuaJIT unload modules when a state ends, and may run finalisers of their objects after it.
SHARED := -shared -Wl,-z,nodelete -Wl,-z,relro,-z,now
HARDEN += -fstack-clash-protection
endif

# Nothing in core knows a Lua: the folders of all Luas share its objects, and any other BUILD has its own.
SHARED_BUILD  := $(if $(filter build/$(LUA),$(BUILD)),build/shared,$(BUILD))
CORE_OBJECTS  := $(patsubst src/%.c,$(SHARED_BUILD)/%.o,$(wildcard src/core/*.c))
BIND_OBJECTS  := $(patsubst src/%.c,$(BUILD)/%.o,$(wildcard src/bind/*.c))
# Two modules: purser.http holds what needs libcurl, and a copy of the little that both need.
HTTP_OBJECTS  := $(patsubst src/%.c,$(SHARED_BUILD)/%.o,$(wildcard src/core/http*.c)) \
  $(patsubst src/%.c,$(BUILD)/%.o,$(wildcard src/bind/http*.c src/bind/l_http*.c))
BOTH_OBJECTS  := $(addprefix $(SHARED_BUILD)/core/,buf.o clock.o ip.o) $(BUILD)/bind/lpu.o
MODULES       := $(addprefix $(BUILD)/purser/,core.so http.so httpd.so)
HTTPD_OBJECTS := $(patsubst src/%.c,$(BUILD)/%.o,$(wildcard src/httpd/*.c))
SPEC_TOOLS    := $(BUILD)/spec/peer
C_TESTS       := $(patsubst spec/c/%.c,$(BUILD)/spec/%,$(wildcard spec/c/test_*.c))

export LUA BUILD
# Where the tests and examples find Purser before it is installed. The trailing ;; keeps Lua's own path.
export LUA_PATH  := $(CURDIR)/lua/?.lua;$(CURDIR)/lua/?/init.lua;;
export LUA_CPATH := $(CURDIR)/$(BUILD)/?.so;;
# Lua prefers these to the two above, and would test what is installed.
unexport LUA_PATH_5_2 LUA_CPATH_5_2 LUA_PATH_5_3 LUA_CPATH_5_3 LUA_PATH_5_4 LUA_CPATH_5_4 LUA_PATH_5_5 LUA_CPATH_5_5

.PHONY: all demo test spec test-all nginx-modules lint c-tests install uninstall clean help setup setup-test setup-all

all: $(MODULES)

demo: setup
	@$(MAKE) -s all
	@tools/demo

# As many at a time as there are cores. ROOM is a room of spec/ (cli), a folder, or a file; ORDER=7 shuffles the files.
CORES := $(shell nproc 2>/dev/null || echo 2)
RUN_TESTS = LUA=$(LUA) lua5.4 tools/test.lua
# Needs of the specs of one Lua; Debian's nginx has LuaJIT, whatever Lua they run on.
FOR_SPECS = $(MAKE) -s -j$(CORES) LUA=$(1) BUILD=build/$(1) all build/$(1)/spec/peer

test: setup-test
	@$(call FOR_SPECS,luajit)
ifdef ROOM
	@$(call FOR_SPECS,$(LUA))
	@$(if $(findstring hosts,$(ROOM)),$(MAKE) -s -j$(CORES) hosts-build)
	@$(if $(filter %.c,$(ROOM)),$(MAKE) -s -j$(CORES) c-tests)
	@$(RUN_TESTS) room $(ROOM)
else
	@$(call FOR_SPECS,lua5.4) c-tests build/lua5.4/examples/host
	@$(RUN_TESTS) quick
endif

# A part that cannot be installed or built here fails by the name of its tests; the others run all the same. What no
# build needs is installed beside the builds: apt-get mostly waits. What npm or pandoc makes comes after it.
test-all:
	-@tools/setup build test hosts versions
	-@for lua in lua5.1 lua5.2 lua5.3 lua5.4 luajit; do $(call FOR_SPECS,$$lua) EXTRA_CFLAGS=-Werror; done
	-@$(MAKE) -s -k -j$(CORES) LUA=lua5.4 BUILD=build/lua5.4 setup-all c-tests hosts-build bundle asan-build
	-@$(MAKE) -s -k -j$(CORES) LUA=lua5.4 BUILD=build/lua5.4 site $(AXE) $(DUEL) $(MCP)
	@$(RUN_TESTS) all

setup-all:
	@tools/setup hosts-all browser site torture model books

# Prints the name of each check as it ends. A file is found whatever its name ends in: _spec.lua or _test.lua.
SPEC ?= spec
spec: all $(SPEC_TOOLS) nginx-modules
	@$(LUA) /usr/bin/busted --output=TAP $(if $(filter %.lua,$(SPEC)),--pattern=.) $(SPEC)

nginx-modules:
	@$(if $(filter luajit,$(LUA)),,$(call FOR_SPECS,luajit))

setup:
	@tools/setup build

setup-test:
	@tools/setup build test hosts

$(BUILD)/purser/core.so: $(filter-out $(HTTP_OBJECTS),$(CORE_OBJECTS) $(BIND_OBJECTS))
	@mkdir -p $(@D)
	$(CC) $(SHARED) $(LDFLAGS) -o $@ $^ $(CORE_LIBS)

$(BUILD)/purser/http.so: $(HTTP_OBJECTS) $(BOTH_OBJECTS)
	@mkdir -p $(@D)
	$(CC) $(SHARED) $(LDFLAGS) -o $@ $^ $(HTTP_LIBS)

$(BUILD)/purser/httpd.so: $(HTTPD_OBJECTS)
	@mkdir -p $(@D)
	$(CC) $(SHARED) $(LDFLAGS) -o $@ $^ $(HTTPD_LIBS)

$(BUILD)/bind/core_library.o: CORE_CFLAGS += '-DLPU_LIBCURL_NEEDS=$(LIBCURL_NEEDS)'

# Looks at what has to be installed first: these files name the package of a header that is missing.
$(filter-out %/core/check_deps.o,$(CORE_OBJECTS) $(BIND_OBJECTS) $(HTTPD_OBJECTS)): | $(SHARED_BUILD)/core/check_deps.o
$(filter-out %/httpd/check_deps.o,$(HTTPD_OBJECTS)): | $(BUILD)/httpd/check_deps.o
$(filter-out %check_deps.o,$(HTTP_OBJECTS)): | $(SHARED_BUILD)/core/http_check_deps.o
$(SHARED_BUILD)/core/check_deps.o $(BIND_OBJECTS) $(HTTPD_OBJECTS): | $(BUILD)/lua-headers
# Other flags make other objects.
$(CORE_OBJECTS) $(BIND_OBJECTS) $(HTTPD_OBJECTS): Makefile
$(BUILD)/lua-headers:
	@command -v pkg-config >/dev/null || { echo "make: pkg-config is missing; docs/install.md names its package" >&2; exit 1; }
	@pkg-config --exists $(LUA) || { \
	  echo "make: the headers of $(LUA) are missing. Debian: lib$(patsubst luajit,luajit2-5.1,$(LUA:lua5.1=lua5.1-0))-dev; docs/install.md has others" >&2; exit 1; }
	@mkdir -p $(@D) && touch $@

$(SHARED_BUILD)/core/%.o: src/core/%.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(STRICT) $(CORE_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/bind/%.o: src/bind/%.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(STRICT) $(LUA_CFLAGS) $(CORE_CFLAGS) -Isrc/core -MMD -MP -c -o $@ $<

$(BUILD)/httpd/%.o: src/httpd/%.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(STRICT) $(LUA_CFLAGS) $(HTTPD_CFLAGS) -Isrc/bind -MMD -MP -c -o $@ $<

# The C floor's own tests: one program a file, linked with the floor and nothing of Lua.
c-tests: $(C_TESTS) $(BUILD)/spec/peer

$(BUILD)/spec/%: spec/c/%.c $(CORE_OBJECTS)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(STRICT) $(CORE_CFLAGS) -Isrc/core -MMD -MP -o $@ $< $(CORE_OBJECTS) $(LDFLAGS) $(CORE_LIBS) $(HTTP_LIBS)

# These take the linker's help: one has another version of libcurl, one lets OpenSSL fail, the others make allocations
# fail.
$(BUILD)/spec/test_verify: LDFLAGS += -Wl,--wrap=EVP_DigestVerify
$(BUILD)/spec/test_http_sigpipe: LDFLAGS += -Wl,--wrap=curl_version_info
$(BUILD)/spec/test_signing_memory $(BUILD)/spec/test_http_watch: LDFLAGS += -Wl,--wrap=malloc -Wl,--wrap=realloc
# The peer that misbehaves to order, for the specs of the transports.
$(BUILD)/spec/peer: spec/support/peer.c spec/support/peer_h2.c spec/support/peer.h
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(STRICT) -o $@ $(filter %.c,$^) $(LDFLAGS) $(shell pkg-config --libs libssl libcrypto) -lpthread

lint:
	@tools/lint

# The same PREFIX and LUA for both. The variables reach the script by its environment, so paths may hold blanks.
install uninstall: export PREFIX := $(PREFIX)
install uninstall: export DESTDIR := $(DESTDIR)
install: all
	@tools/install install

uninstall:
	@tools/install uninstall

clean:
	rm -rf build

# The list at the top of this file.
help:
	@sed -n 's/^#   //p' Makefile

-include $(wildcard bench/*.mk spec/*.mk spec/*/*.mk tools/*.mk tools/*/*.mk)
-include $(CORE_OBJECTS:.o=.d) $(BIND_OBJECTS:.o=.d) $(HTTPD_OBJECTS:.o=.d) $(C_TESTS:=.d)
