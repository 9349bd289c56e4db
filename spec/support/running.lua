-- SPDX-License-Identifier: MIT
-- busted's helper (.busted): writes the name of the test that runs to the file that tools/test.lua names, so that a
-- test that never ends can be told from those that have passed. Prints why a file cannot be loaded, which busted's TAP
-- does not.

local busted = require "busted"
local path = os.getenv "PURSER_RUNNING"

if path then
  busted.subscribe({ "test", "start" }, function(element, parent)
    local file = io.open(path, "w")
    if not file then return nil, true end
    file:write(element.trace and element.trace.short_src or "?", ": ", parent and parent.name or "", " ", element.name)
    file:close()
    return nil, true
  end)
end

busted.subscribe({ "error", "file" }, function(element, _, message)
  if element.trace and element.trace.currentline then return nil, true end
  print(("# %s: %s"):format(element.name, tostring(message)))
  return nil, true
end, { priority = 1 })
