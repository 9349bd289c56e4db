-- SPDX-License-Identifier: MIT
-- Writes JSON text from its parts, in one of three hands: plain, spaced (white space wherever it may stand), escaped
-- (every second character as a \u escape). Values are put together bottom-up: every function returns JSON text.

local M = {}

local escapes = {
  ['"'] = '\\"', ["\\"] = "\\\\", ["\b"] = "\\b", ["\f"] = "\\f", ["\n"] = "\\n", ["\r"] = "\\r", ["\t"] = "\\t",
}

local function escape_control(character)
  return escapes[character] or ("\\u%04x"):format(character:byte())
end

local function code_point(character)
  local lead, b, c, d = character:byte(1, 4)
  if not b then return lead end
  if not c then return (lead - 0xC0) * 0x40 + b - 0x80 end
  if not d then return (lead - 0xE0) * 0x1000 + (b - 0x80) * 0x40 + c - 0x80 end
  return (lead - 0xF0) * 0x40000 + (b - 0x80) * 0x1000 + (c - 0x80) * 0x40 + d - 0x80
end

local function unicode_escape(character)
  local code = code_point(character)
  if code < 0x10000 then return ("\\u%04X"):format(code) end
  code = code - 0x10000
  return ("\\u%04x\\u%04x"):format(0xD800 + math.floor(code / 0x400), 0xDC00 + code % 0x400)
end

local function plain_text(text)
  if not text:find('[%c"\\]') then return '"' .. text .. '"' end
  return '"' .. text:gsub('[%c"\\]', escape_control) .. '"'
end

local function escaped_text(text)
  local every_second = false
  return '"' .. text:gsub("[%z\1-\127\194-\244][\128-\191]*", function(character)
    every_second = not every_second
    if every_second then return unicode_escape(character) end
    if #character == 1 and character:find('[%c"\\]') then return escape_control(character) end
    return character
  end) .. '"'
end

--- A writer. Options: `spaced`, `escaped` (booleans), `order` (a function that may put the members of an object, a list
-- of texts, into another order in place).
function M.writer(options)
  local text = options.escaped and escaped_text or plain_text
  local open, comma, colon, close = "", ",", ":", ""
  if options.spaced then open, comma, colon, close = " \n\t", "\r\n ,\t", " : ", "\t\r\n " end
  local writer = { text = text }

  local keys = {} -- written names: records repeat them

  --- A member of an object: its name and the JSON text of its value.
  function writer.member(name, json)
    local key = keys[name]
    if not key then
      key = text(name) .. colon
      keys[name] = key
    end
    return key .. json
  end

  --- An object of a list of members.
  function writer.object(members)
    if options.order then options.order(members) end
    return "{" .. open .. table.concat(members, comma) .. close .. "}"
  end

  --- An array of a list of JSON texts.
  function writer.array(items)
    return "[" .. open .. table.concat(items, comma) .. close .. "]"
  end

  --- What may stand around the whole text.
  function writer.document(json)
    return options.spaced and "\r\n\t " .. json .. " \n" or json
  end

  return writer
end

return M
