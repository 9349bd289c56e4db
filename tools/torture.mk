# make torture: payments at a service that answers badly, by workers that are killed (spec/torture). Takes some minutes.
#   make torture PAYMENTS=1000 SEED=7        fewer, and another run
#   make torture-short                       120 payments, with the record before the request and without it
.PHONY: torture torture-short

PAYMENTS ?= 10000
SEED     ?= 1

torture:
	@tools/setup build test torture
	@$(MAKE) --no-print-directory all
	@export LUA_PATH="$(CURDIR)/spec/support/?.lua;$(LUA_PATH)"; \
	$(LUA) spec/torture/connection.lua && $(LUA) spec/torture/run.lua sqlite $(PAYMENTS) 1 $(SEED) && $(LUA) spec/torture/run.lua postgresql $(PAYMENTS) 8 $(SEED)

torture-short:
	@tools/setup build test
	@$(MAKE) --no-print-directory all
	@$(LUA) /usr/bin/busted --output=TAP --pattern=_test spec/torture
