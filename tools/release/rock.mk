# SPDX-License-Identifier: MIT
# The LuaRocks packages: packed from the tree, installed into an empty one offline, and used from there.
.PHONY: rock-test
rock-test:
	@tools/setup build rock
	@tools/release/rock
