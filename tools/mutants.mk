# SPDX-License-Identifier: MIT
# Small random changes of the code, and those that no spec of the changed module notices (tools/mutants.lua).
#   make mutants ROOM=write N=50 SEED=2 JOBS=2   a room (a folder below lua/purser), its own files (client/*), or a file
.PHONY: mutants

N    ?= 100
SEED ?= 1
JOBS ?= 1

mutants: setup-test
	@$(call FOR_SPECS,luajit)
	@$(call FOR_SPECS,lua5.4)
	@nice lua5.4 tools/mutants.lua "ROOM=$(ROOM)" N=$(N) SEED=$(SEED) JOBS=$(JOBS)
