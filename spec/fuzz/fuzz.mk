# decode
# libFuzzer comes with clang; `make fuzz FUZZ_SECONDS=600` runs each target that long. The corpus stays in build/fuzz.
FUZZ_SECONDS ?= 60
FUZZ_CC      ?= clang
FUZZ_FLAGS   := -O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
FUZZ_DECODE  := src/core/json.c src/core/shape.c src/core/decode.c

.PHONY: fuzz fuzz-decode

fuzz: fuzz-decode

fuzz-decode: build/fuzz/decode
	@mkdir -p build/fuzz/decode-corpus
	@LUA_PATH="$(CURDIR)/?.lua;$(LUA_PATH)" lua5.4 spec/fuzz/seeds.lua build/fuzz/decode-corpus
	build/fuzz/decode -max_total_time=$(FUZZ_SECONDS) -max_len=4096 -timeout=10 -print_final_stats=1 \
	  -dict=spec/fuzz/json.dict -artifact_prefix=build/fuzz/decode- build/fuzz/decode-corpus

build/fuzz/decode: spec/fuzz/fuzz_decode.c spec/c/sample_plan.h $(FUZZ_DECODE) $(wildcard src/core/*.h)
	@tools/setup build fuzz
	@mkdir -p $(@D)
	$(FUZZ_CC) $(FUZZ_FLAGS) -std=c99 -D_POSIX_C_SOURCE=200809L -Isrc/core -o $@ $< $(FUZZ_DECODE)
