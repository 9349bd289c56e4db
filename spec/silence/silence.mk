# SPDX-License-Identifier: MIT
#   make silence   withdrawals over a network that drops packets (docs/write/outcomes.md); as root, with iproute2, iptables
.PHONY: silence

silence: all $(BUILD)/spec/peer
	@tools/setup silence
	@spec/silence/silence.sh
