-- SPDX-License-Identifier: MIT
--- Loads a module on stand-ins for others that it requires:
---
---     local bridge = with_modules("purser.hosts.copas", { copas = { ... }, socket = { ... } })

return function(name, stand_ins)
  local before = { [name] = package.loaded[name] or false }
  for other, module in pairs(stand_ins) do
    before[other], package.loaded[other] = package.loaded[other] or false, module
  end
  package.loaded[name] = nil
  local ok, loaded = pcall(require, name)
  for other, module in pairs(before) do package.loaded[other] = module or nil end
  assert(ok, loaded)
  return loaded
end
