-- SPDX-License-Identifier: MIT
--- Runs `one` `count` times in tasks, `in_flight` of them side by side.
return function(one, count, in_flight)
  local schedule = require "purser.schedule"
  local tasks, left = {}, count
  for i = 1, in_flight do
    tasks[i] = function()
      while left > 0 do
        left = left - 1
        one()
      end
    end
  end
  schedule.run(schedule.all, tasks)
end
