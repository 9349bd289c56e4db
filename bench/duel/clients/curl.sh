# SPDX-License-Identifier: MIT
# client: curl --retry
# modes: plain careful
#
# https://curl.se/docs/manpage.html: --retry 3 with --retry-all-errors, which its page calls the sledgehammer, and
# --max-time. The careful mode sends once, as that page recommends: "handling your unique problems in shell script".

mode=$1 list=$2
timeout=$(awk "BEGIN { print $DUEL_TIMEOUT_MS / 1000 }")

# call METHOD PATH QUERY OPTION...
call() {
  local query="$3&timestamp=$(date +%s%3N)"
  local signature
  signature=$(printf %s "$query" | openssl dgst -sha256 -hmac "$DUEL_SECRET_KEY" | sed 's/.* //')
  curl -sS --fail-with-body --max-time "$timeout" -X "$1" -H "X-MEXC-APIKEY: $DUEL_API_KEY" \
    -H "Content-Type: application/json" "${@:4}" "$DUEL_URL/api/v3/capital/$2?$query&signature=$signature"
}

# send OPTION... makes the payment; succeeds where it was made.
send() {
  if [ "$operation" = withdraw ]; then
    call POST withdraw "coin=USDT&netWork=TRX&address=$address&amount=$amount&withdrawOrderId=$key" "$@" >/dev/null
  else
    call POST transfer "asset=USDT&amount=$amount&fromAccountType=SPOT&toAccountType=FUTURES" "$@" >/dev/null
  fi
}

# find: 0 where the history shows the payment, 1 where it does not, 2 where it could not be read.
find() {
  local answer
  if [ "$operation" = withdraw ]; then
    answer=$(call GET withdraw/history "coin=USDT") || return 2
    grep -q "\"withdrawOrderId\":\"$key\"" <<<"$answer"
  else
    answer=$(call GET transfer "fromAccountType=SPOT&toAccountType=FUTURES&size=100") || return 2
    grep -q "\"amount\":\"$amount\"" <<<"$answer"
  fi
}

# A mark on disk before the payment is sent; after a mark a look into the history, a second later; five attempts.
carefully() {
  local mark="$DUEL_FOLDER/begun-$key" attempt
  for attempt in 1 2 3 4 5 6; do
    if [ -e "$mark" ]; then
      sleep 1
      find
      case $? in 0) echo done; return ;; 2) continue ;; esac
    fi
    [ "$attempt" = 6 ] && break
    touch "$mark" && sync "$mark"
    if send; then echo done; return; fi
  done
  echo person
}

while read -r key operation amount address; do
  if [ "$mode" = careful ]; then word=$(carefully)
  elif send --retry 3 --retry-all-errors; then word=done
  else word=failed
  fi
  echo "$key $word"
done <"$list"
