# Rules for the programs that `bench/` measures against, one block a topic.

# sign
$(BUILD)/bench/floor_sign: bench/floor_sign.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -std=c99 -D_POSIX_C_SOURCE=200809L $(WARN) $(shell pkg-config --cflags libcrypto) -o $@ $< \
		$(shell pkg-config --libs libcrypto)
# sign: end
