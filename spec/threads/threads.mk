# SPDX-License-Identifier: MIT
# Eight Lua states in eight threads of one process, under ThreadSanitizer of clang: `make tsan ROUNDS=1000`.
ROUNDS ?= 300
TSAN_SOURCES := spec/threads/threads.c $(wildcard src/core/*.c src/bind/*.c src/httpd/*.c)
.PHONY: tsan

# libcurl, OpenSSL and libmicrohttpd are not built with the sanitizer; it sees what they do through libc.
tsan: build/tsan/threads
	@printf 'threads-secret\n' > build/tsan/key && chmod 600 build/tsan/key
	THREADS_KEY=build/tsan/key TSAN_OPTIONS=halt_on_error=1 $< $(ROUNDS)

build/tsan/threads: $(TSAN_SOURCES) $(wildcard src/*/*.h)
	@tools/setup build fuzz
	@mkdir -p $(@D)
	clang -O1 -g -fsanitize=thread -std=c99 -D_POSIX_C_SOURCE=200809L -Isrc/core -Isrc/bind -Isrc/httpd -o $@ $(TSAN_SOURCES) \
	  $(shell pkg-config --cflags --libs lua5.4) $(CORE_CFLAGS) $(HTTPD_CFLAGS) $(CORE_LIBS) $(HTTP_LIBS) $(HTTPD_LIBS)
