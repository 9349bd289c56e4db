# SPDX-License-Identifier: MIT
# The suite once more under tools that see what a test cannot: they take minutes, so `make test` leaves them out.
#   make asan      every C test and every spec under AddressSanitizer, LeakSanitizer and UndefinedBehaviorSanitizer
#   make valgrind  the C tests, and the specs of every C object, under memcheck: no bad access, not a byte lost
#   make gc        the specs of the C objects and of calls with a whole collection at nearly every allocation
#   make soak      10^6 clients made and dropped (SOAK_CLIENTS), with the memory they leave behind
.PHONY: asan asan-run valgrind gc soak

ASAN_CC = $(CC) -fsanitize=address,undefined -fno-sanitize-recover=all
ASAN_RUNTIMES = $(shell $(CC) -print-file-name=libasan.so):$(shell $(CC) -print-file-name=libubsan.so)

# No spec is left out. Lua itself is not instrumented, so its process loads the runtimes before the module does, and so
# does every program that a spec starts; spec/lsan.supp names what those leak.
asan:
	@tools/setup build test
	@$(MAKE) --no-print-directory BUILD=build/asan CC="$(ASAN_CC)" CFLAGS="-O1 -g -fno-omit-frame-pointer" \
	  all c-tests build/asan/spec/peer
	@$(MAKE) --no-print-directory BUILD=build/asan asan-run

asan-run:
	@ASAN_OPTIONS=detect_leaks=1:detect_stack_use_after_return=1:quarantine_size_mb=8 UBSAN_OPTIONS=print_stacktrace=1 \
	  LSAN_OPTIONS=suppressions=$(CURDIR)/spec/lsan.supp:print_suppressions=0 \
	  LD_PRELOAD=$(ASAN_RUNTIMES) $(LUA) tools/test.lua "C floor" specs torture

MEMCHECK = valgrind -q --leak-check=full --errors-for-leak-kinds=definite,indirect --error-exitcode=9 \
  --show-leak-kinds=definite,indirect --num-callers=25
# Every type of userdata, the transports over real sockets, and the order of closing. Left out: the specs that run the
# simulator's or the command's Lua, which reach the same C, and decimal_spec, whose million comparisons take minutes
# (test_decimal covers its C).
MEMCHECK_SPECS = $(patsubst %,spec/%_spec.lua,json schedule libcurl httpd/httpd bind/signer bind/layout bind/closing \
  transport/multi transport/kept_connection transport/http2) \
  $(wildcard spec/bind/decoder*_spec.lua spec/transport/curl*_spec.lua)
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
  transport/multi transport/kept_connection transport/http2) $(wildcard spec/transport/curl*_spec.lua)

gc: all $(BUILD)/spec/peer
	@for spec in $(GC_SPECS); do echo "$$spec"; \
	  $(LUA) /usr/bin/busted --helper=spec/support/collecting.lua --output=plainTerminal $$spec || exit 1; done

soak: all
	@$(LUA) tools/soak.lua
