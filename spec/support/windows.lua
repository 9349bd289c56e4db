-- SPDX-License-Identifier: MIT
--- Judges by hand what a rate limit let go: every pair of times is looked at.

local M = {}

--- The largest sum of costs in any window of that length. `sent` is a list of { time, cost }.
function M.peak(sent, window_ms)
  table.sort(sent, function(a, b) return a[1] < b[1] end)
  local peak = 0
  for last = 1, #sent do
    local sum, i = 0, last
    while i > 0 and sent[last][1] - sent[i][1] < window_ms do
      sum, i = sum + sent[i][2], i - 1
    end
    peak = math.max(peak, sum)
  end
  return peak
end

return M
