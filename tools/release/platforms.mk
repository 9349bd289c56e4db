# SPDX-License-Identifier: MIT
#   make test-platforms   other processors, compilers and C libraries: tools/release/platforms
.PHONY: test-platforms c-tests-here
test-platforms:
	@tools/setup build test platforms
	@tools/release/platforms

# The tests of the C floor that open no connection: qemu-user lacks some of what those look at.
c-tests-here: $(patsubst %,$(BUILD)/spec/test_%,decimal decode json json_write layout percent secret signer)
