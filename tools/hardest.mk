# SPDX-License-Identifier: MIT
# make examples-hardest: the examples with the switches of the simulator at their hardest. Not among them: a delay of
# visibility, saved addresses only, and the rate limit, for which these specs have no expectations yet.
.PHONY: examples-hardest

HARDEST := --fee inside --repeated-ids execute --transfer-wait 1000 --variant counted_lists,records_bare,rows_bare,$\
bare_transfer_ids,hex_ids,token_name,address_with_memo,output_numbers,seen_members,extra_members,null_members,$\
error_code_text,error_codes_seen,error_http_200,$\
padded_amounts,other_networks

examples-hardest: all
	@SIM_OPTIONS="$(HARDEST)" $(LUA) /usr/bin/busted spec/system/examples_spec.lua
	@SIM_OPTIONS="$(HARDEST)" $(LUA) /usr/bin/busted spec/system/workflow_examples_spec.lua
