# SPDX-License-Identifier: MIT
# Histories of services drawn at random, WALKS of them from SEED on (spec/client/history/history_random_spec.lua).
walks: all
	@WALKS=$${WALKS:-2000} $(LUA) /usr/bin/busted spec/client/history/history_random_spec.lua

# Where lost calls of WORLDS drawn worlds of a KIND stay undecided, from seed FIRST_WORLD on (spec/torture/verdicts.lua).
verdicts: all
	@LUA_PATH="$(CURDIR)/spec/support/?.lua;$(LUA_PATH)" $(LUA) spec/torture/verdicts.lua \
	  "$(or $(KIND),hard)" $(or $(WORLDS),2000) $(FIRST_WORLD)

#   make torture     payments at a service that answers badly, by workers that are killed (spec/torture); some minutes
#   make torture PAYMENTS=1000 SEED=7        fewer, and another run
#   make rehearse SEEDS=1000 FIRST=1         the same on virtual time, where one seed is one run
#   make rehearse SEEDS=1 FIRST=543 TELL=tell    prints every event of one
.PHONY: torture rehearse walks verdicts

PAYMENTS ?= 10000
SEED     ?= 1

# The switches of the simulator at their hardest; workers expect records to be visible after 200 ms.
TORTURE_SWITCHES := --variant live $\
--set visibility_delay_ms=190 --set saved_addresses_only=true --set fee=inside --set repeated_ids=execute

torture:
	@tools/setup build test torture
	@$(MAKE) -s all
	@export LUA_PATH="$(CURDIR)/spec/support/?.lua;$(LUA_PATH)"; \
	$(LUA) /usr/bin/busted --output=TAP spec/torture/on_postgresql.lua spec/torture/keys_on_postgresql.lua \
	  spec/torture/limits_on_postgresql.lua spec/torture/names_on_postgresql.lua && \
	$(LUA) spec/torture/connection.lua && export SIM_OPTIONS="$(TORTURE_SWITCHES)" && \
	$(LUA) spec/torture/run.lua sqlite $(PAYMENTS) 1 $(SEED) && $(LUA) spec/torture/run.lua postgresql $(PAYMENTS) 8 $(SEED)

SEEDS ?= 1000
FIRST ?= 1

rehearse:
	@tools/setup build test
	@$(MAKE) -s all
	@$(LUA) spec/torture/rehearse.lua $(FIRST) $(SEEDS) $(TELL)
