# SPDX-License-Identifier: MIT
# make examples-hardest: the examples with every switch of the simulator at its hardest: a new record is invisible for
# as long as clients expect by default, withdrawals go to saved addresses alone. The forms of answers that exclude each
# other take turns. Not among them is states_null, which withholds what the examples wait for.
.PHONY: examples-hardest

HARDEST := --set fee=inside --set repeated_ids=execute --set transfer_wait_ms=1000 $\
--set visibility_delay_ms=3000 --set saved_addresses_only=true --rate-limit default --variant $\

FORMS := counted_lists,records_bare,rows_bare,$\
bare_transfer_ids,hex_ids,token_name,address_with_memo,output_numbers,seen_members,extra_members,null_members,$\
error_code_text,error_codes_seen,error_http_200,$\
padded_amounts,other_networks

OTHER_FORMS := records_in_array,bare_values,values_as_text,other_names,other_addresses_with_memo,shuffled,error_members

examples-hardest: all
	@for forms in $(FORMS) $(OTHER_FORMS); do for examples in examples workflow_examples; do \
	SIM_OPTIONS="$(HARDEST)$$forms" $(LUA) /usr/bin/busted spec/system/$${examples}_spec.lua || exit 1; \
	done; done
