# SPDX-License-Identifier: MIT
# libFuzzer comes with clang; `make fuzz FUZZ_SECONDS=600` runs each target that long. Each keeps its corpus in build/fuzz.
#   decode  the decoder alone          query  the builder of queries and bodies       answer  from an answer to a result
#   text    addresses, IP addresses, credentials files and secrets from a pipe
#   api     any function and method with any arguments, and finalisers: `make fuzz-api SECONDS=600`, which is its default
FUZZ_SECONDS ?= 60
FUZZ_CC      ?= clang
FUZZ_FLAGS   := -O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
FUZZ_FLAGS   += -std=c99 -D_POSIX_C_SOURCE=200809L -Isrc/core
FUZZ_CORE    := $(filter-out src/core/http%,$(wildcard src/core/*.c))
FUZZ_ANSWER  := $(wildcard src/core/*.c src/bind/*.c)
FUZZ_RUN      = -max_total_time=$(FUZZ_SECONDS) -max_len=4096 -timeout=10 -print_final_stats=1 \
  -artifact_prefix=build/fuzz/$(@:fuzz-%=%)- build/fuzz/$(@:fuzz-%=%)-corpus
FUZZ_API     := $(patsubst %,spec/fuzz/fuzz_%.c,api api_names api_world)
FUZZ_HEADERS  = $(wildcard src/core/*.h src/bind/*.h)

.PHONY: fuzz fuzz-decode fuzz-query fuzz-text fuzz-answer fuzz-api

fuzz: fuzz-decode fuzz-query fuzz-text fuzz-answer

fuzz-decode: build/fuzz/decode
	@mkdir -p $<-corpus
	@LUA_PATH="$(CURDIR)/?.lua;$(LUA_PATH)" lua5.4 spec/fuzz/seeds.lua $<-corpus
	$< -dict=spec/fuzz/json.dict $(FUZZ_RUN)

fuzz-query: build/fuzz/query
	@mkdir -p $<-corpus
	$< $(FUZZ_RUN)

fuzz-text: build/fuzz/text
	@mkdir -p $<-corpus
	$< -dict=spec/fuzz/text.dict $(FUZZ_RUN)

# Lua takes memory from malloc, where the sanitizer watches it; what Lua keeps to the end is not a leak. The seeds are made
# by the module as it is built for use.
fuzz-answer: build/fuzz/answer all
	@mkdir -p $<-corpus
	@LUA_PATH="$(CURDIR)/?.lua;$(LUA_PATH)" lua5.4 spec/fuzz/answer_seeds.lua $<-corpus $<.dict
	$< -dict=$<.dict $(FUZZ_RUN)

# Memory that Lua cannot get back does not matter: each input has a Lua of its own, and a leak of the modules is a finding.
fuzz-api: FUZZ_SECONDS = $(or $(SECONDS),600)
fuzz-api: build/fuzz/api
	@mkdir -p $<-corpus
	$< $(FUZZ_RUN) -len_control=20 -rss_limit_mb=4096

build/fuzz/decode build/fuzz/query build/fuzz/text: build/fuzz/%: spec/fuzz/fuzz_%.c $(FUZZ_CORE) $(FUZZ_HEADERS) \
  spec/c/sample_plan.h spec/c/naive_address.h
	@tools/setup build fuzz
	@mkdir -p $(@D)
	$(FUZZ_CC) $(FUZZ_FLAGS) -o $@ $< $(FUZZ_CORE) $(CORE_CFLAGS) $(CORE_LIBS)

build/fuzz/answer: spec/fuzz/fuzz_answer.c $(FUZZ_ANSWER) $(FUZZ_HEADERS)
	@tools/setup build fuzz
	@mkdir -p $(@D)
	$(FUZZ_CC) $(FUZZ_FLAGS) -o $@ $< $(FUZZ_ANSWER) -Isrc/bind $(shell pkg-config --cflags --libs lua5.4) \
	  $(CORE_CFLAGS) $(CORE_LIBS) $(HTTP_LIBS)

build/fuzz/api: $(FUZZ_API) spec/fuzz/fuzz_api.h $(FUZZ_ANSWER) $(wildcard src/httpd/*.[ch]) $(FUZZ_HEADERS)
	@tools/setup build fuzz
	@mkdir -p $(@D)
	$(FUZZ_CC) $(FUZZ_FLAGS) -o $@ $(FUZZ_API) $(FUZZ_ANSWER) $(wildcard src/httpd/*.c) -Isrc/bind -Isrc/httpd \
	  $(shell pkg-config --cflags --libs lua5.4) $(CORE_CFLAGS) $(HTTPD_CFLAGS) $(CORE_LIBS) $(HTTP_LIBS) $(HTTPD_LIBS)
