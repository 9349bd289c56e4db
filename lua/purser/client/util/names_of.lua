-- SPDX-License-Identifier: MIT
-- Orders the keys of tables.

--- Returns the keys of maps, each once, in the order of their texts.
return function(...)
  local names, seen = {}, {}
  for _, map in ipairs { ... } do
    for name in pairs(map) do
      if not seen[name] then names[#names + 1], seen[name] = name, true end
    end
  end
  table.sort(names, function(a, b) return tostring(a) < tostring(b) end)
  return names
end
