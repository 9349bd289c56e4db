# SPDX-License-Identifier: MIT
# The suite once more under tools that see what a test cannot. `make test-all` runs a part of asan, and none of the others.
#   make asan      every C test and every spec under AddressSanitizer, LeakSanitizer and UndefinedBehaviorSanitizer
#   make valgrind  the C tests, and the specs of every C object, under memcheck: no bad access, not a byte lost
#   make gc        the specs of the C objects and of calls with a whole collection at nearly every allocation
#   make soak      10^6 clients made and dropped (SOAK_CLIENTS), with the memory they leave behind
.PHONY: asan asan-build valgrind gc soak

ASAN_CC = $(CC) -fsanitize=address,undefined -fno-sanitize-recover=all

# No spec is left out (tools/test_stages.lua); `make asan ROOM=spec/bind` takes a folder or a file.
asan: asan-build
	@$(MAKE) -s hosts-build
	@lua5.4 tools/test.lua asan $(ROOM)

asan-build:
	@tools/setup build test
	@$(MAKE) -s -j$(CORES) LUA=lua5.4 BUILD=build/asan CC="$(ASAN_CC)" CFLAGS="-O1 -g -fno-omit-frame-pointer" \
	  all c-tests build/asan/spec/peer

MEMCHECK = valgrind -q --leak-check=full --errors-for-leak-kinds=definite,indirect --error-exitcode=9 \
  --show-leak-kinds=definite,indirect --num-callers=25
# Every type of userdata, the transports over real sockets, and the order of closing. Left out: the specs that run the
# simulator's or the command's Lua, which reach the same C, and decimal_spec, whose million comparisons take minutes
# (test_decimal covers its C).
MEMCHECK_SPECS = $(patsubst %,spec/%_spec.lua,json schedule client/util/libcurl httpd/httpd bind/signer bind/layout \
  bind/closing client/transport/multi) \
  $(wildcard spec/bind/decoder*_spec.lua spec/client/transport/curl*_spec.lua)
# Left out: the one whose child gives up its parent's connections, on purpose and for good; the one whose child is stopped
# by a signal, which memcheck ignores.
MEMCHECK_TESTS = $(filter-out %/test_http_fork %/test_terminal,$(C_TESTS) $(C_LUA_TESTS))

valgrind:
	@tools/setup build test hard
	@$(MAKE) --no-print-directory all c-tests $(BUILD)/spec/peer
	@for test in $(MEMCHECK_TESTS); do echo "$$test"; $(MEMCHECK) $$test || exit 1; done
	@for spec in $(MEMCHECK_SPECS); do echo "$$spec"; $(MEMCHECK) $(LUA) /usr/bin/busted --output=plainTerminal $$spec \
	  || exit 1; done

# A value that C uses and nothing holds is gone here at once, and a finaliser that should wait runs at once. Of the C
# objects decoder and decimal are left out, whose large documents and million numbers would be collected for minutes
# (test_decoder_oom and test_decimal have their memory).
GC_SPECS = $(patsubst %,spec/%_spec.lua,json schedule httpd/httpd client/client bind/signer bind/layout bind/closing \
  client/transport/multi) $(wildcard spec/client/transport/curl*_spec.lua)

gc: all $(BUILD)/spec/peer
	@for spec in $(GC_SPECS); do echo "$$spec"; \
	  $(LUA) /usr/bin/busted --helper=spec/support/collecting.lua --output=plainTerminal $$spec || exit 1; done

soak: all
	@$(LUA) tools/soak.lua
