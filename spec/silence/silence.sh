#!/bin/sh
# SPDX-License-Identifier: MIT
# Every case of silence.lua, each in a network namespace of its own, side by side. Wants root, iproute2 and iptables.
# Closes with the line `N passed, N failed`.
cd "$(dirname "$0")/../.." || exit 1
export LUA_PATH="$PWD/spec/support/?.lua;$LUA_PATH"
results=$(mktemp)
number=0
one() {
  space=purser-silence-$$-$1
  shift
  ip netns add "$space" && ip -n "$space" link set lo up &&
    ip netns exec "$space" "$LUA" spec/silence/silence.lua "$@" 2>&1 && echo passed >>"$results" || echo failed >>"$results"
  ip netns del "$space"
}
for way in "http curl" "http multi" "tls curl" "h2 curl" "h2 multi"; do
  for when in "new 10000" "kept 10000" "kept 40000" "sent 10000" "sent 30000"; do
    number=$((number + 1))
    # shellcheck disable=SC2086
    one $number $way $when &
  done
done
wait
echo "$(grep -c passed "$results") passed, $(grep -c failed "$results") failed"
! grep -q failed "$results"
status=$?
rm "$results"
exit $status
