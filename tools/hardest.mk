# SPDX-License-Identifier: MIT
# make examples-hardest: the examples with every switch of the simulator at its hardest. A new record is invisible for
# as long as clients expect by default; withdrawals go to saved addresses alone.
.PHONY: examples-hardest

HARDEST := --fee inside --repeated-ids execute --unnamed-accounts reject --transfer-wait 1000 $\
--visibility-delay 3000 --saved-addresses-only --rate-limit default --variant counted_lists,records_bare,rows_bare,$\
bare_transfer_ids,hex_ids,token_name,address_with_memo,output_numbers,seen_members,extra_members,null_members,$\
error_code_text,error_codes_seen,error_http_200,$\
padded_amounts,other_networks

examples-hardest: all
	@SIM_OPTIONS="$(HARDEST)" $(LUA) /usr/bin/busted spec/system/examples_spec.lua
	@SIM_OPTIONS="$(HARDEST)" $(LUA) /usr/bin/busted spec/system/workflow_examples_spec.lua
