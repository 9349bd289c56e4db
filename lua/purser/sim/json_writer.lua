-- SPDX-License-Identifier: MIT
-- Writes JSON text from its parts. Values are put together bottom-up: every function returns JSON text.

local M = {}

local escapes = {
  ['"'] = '\\"', ["\\"] = "\\\\", ["\b"] = "\\b", ["\f"] = "\\f", ["\n"] = "\\n", ["\r"] = "\\r", ["\t"] = "\\t",
}

local function escape_control(character)
  return escapes[character] or ("\\u%04x"):format(character:byte())
end

local function write_text(text)
  if not text:find('[%c"\\]') then return '"' .. text .. '"' end
  return '"' .. text:gsub('[%c"\\]', escape_control) .. '"'
end

--- A writer. `order` is a function that may put the members of an object, a list of texts, into another order in place.
---@param order (fun(members: string[]))|nil
function M.writer(order)
  local writer = { text = write_text }

  local keys = {} -- written names: records repeat them

  --- A member of an object: its name and the JSON text of its value.
  function writer.member(name, json)
    local key = keys[name]
    if not key then
      key = write_text(name) .. ":"
      keys[name] = key
    end
    return key .. json
  end

  --- An object of a list of members.
  function writer.object(members)
    if order then order(members) end
    return "{" .. table.concat(members, ",") .. "}"
  end

  --- An array of a list of JSON texts.
  function writer.array(items)
    return "[" .. table.concat(items, ",") .. "]"
  end

  return writer
end

return M
