-- SPDX-License-Identifier: MIT
--- For tests in which the time runs out for an answer: on a busy machine, or under valgrind, it may run out for the
-- handshake already. Calls `send(timeout_ms)` with four times as long until something was sent, and returns what it
-- returned last.
return function(timeout_ms, send)
  local response, failure
  repeat
    response, failure = send(timeout_ms)
    timeout_ms = timeout_ms * 4
  until response or failure.outcome ~= "not_sent" or timeout_ms > 100000
  return response, failure
end
