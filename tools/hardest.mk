# SPDX-License-Identifier: MIT
# make examples-hardest: the examples with every switch of the simulator at its hardest, in both forms of its answers: a
# new record is invisible for a while, withdrawals go to saved addresses alone.
.PHONY: examples-hardest

HARDEST := --set fee=inside --set repeated_ids=execute --set transfer_wait_ms=1000 $\
  --set visibility_delay_ms=3000 --set saved_addresses_only=true --rate-limit default --variant

examples-hardest: all
	@for form in document live; do for spec in system/examples docs/cookbook; do \
	SIM_OPTIONS="$(HARDEST) $$form" $(LUA) /usr/bin/busted spec/$${spec}_spec.lua || exit 1; \
	done; done
