-- SPDX-License-Identifier: MIT
-- Orders the keys of tables.

local function by_text(a, b) return tostring(a) < tostring(b) end

--- Returns the keys of maps, each once, in the order of their texts.
return function(...)
  local names, seen, order = {}, {}, nil
  for _, map in ipairs { ... } do
    for name in pairs(map) do
      if not seen[name] then names[#names + 1], seen[name] = name, true end
      if type(name) ~= "string" then order = by_text end
    end
  end
  table.sort(names, order) -- texts alone need no call for each comparison
  return names
end
