-- SPDX-License-Identifier: MIT
-- Makes decoders of answers from the rows' shapes: the members of an answer in any envelope, and their types.

local core = require "purser.core"
local shapes = require "purser.client.operations.shapes"
local unpack = table.unpack or unpack -- luacheck: ignore

local M = {}

local envelope = {
  { name = "code", type = "string" }, { name = "msg", type = "string" }, { name = "message", type = "string" },
}

local compile_fields

local function compile_type(type_)
  if type(type_) == "string" then return type_ end
  if type_.list then return { list = compile_type(type_.list) } end
  return { record = { name = type_.record, fields = compile_fields(type_.record) } }
end

function compile_fields(name)
  local fields = {}
  for i, field in ipairs(shapes[name]) do
    fields[i] = {
      name = field[1], type = compile_type(field[2]), aliases = field.aliases, prefix = field.prefix,
    }
  end
  return fields
end

-- Returns `fields`, then the members of `more` with further names.
local function extend(fields, more)
  local result, seen = {}, {}
  for _, list in ipairs { fields, more } do
    for _, field in ipairs(list) do
      if not seen[field.name] then
        seen[field.name] = true
        result[#result + 1] = field
      end
    end
  end
  return result
end

--- Returns the form of a result: the part of the row that names the shape.
function M.form_of(result)
  return result.list and "list" or result.record and "record" or result.page and "page" or "rows"
end

--- Returns the members that may be the list, in the order of the search.
function M.carriers_of(result)
  return { "data", "result", unpack(result.wrappers or {}) }
end

-- Returns the members that count records or pages.
local function count_fields(result)
  local fields = {}
  for name in pairs(result.counts or {}) do
    fields[#fields + 1] = { name = name, type = "integer", aliases = name == "totalPageNum" and { "totalPage" } or nil }
  end
  return fields
end

local forms = {}

-- An array of records, or an object with the array as a member. `data` may be such an object, too.
function forms.list(result)
  local record = { name = result.list, fields = compile_fields(result.list) }
  local carriers = {}
  for i, name in ipairs(M.carriers_of(result)) do
    carriers[i] = { name = name, type = { list = { record = record } } }
  end
  local counts = count_fields(result)
  if result.wrappers then
    local wrapped = extend(record.fields, extend({ carriers[3] }, counts))
    carriers[1] = { name = "data", type = { one_or_many = { name = result.list, fields = wrapped } } }
  end
  return { list = { record = record }, record = { name = "list", fields = extend(extend(carriers, counts), envelope) } }
end

local function one(name, fields)
  local bare = { name = name, fields = fields }
  local wrapped = extend(fields, { { name = "data", type = { one_or_many = bare } } })
  return { list = { record = bare }, record = { name = name, fields = extend(wrapped, envelope) } }
end

function forms.record(result)
  return one(result.record, compile_fields(result.record))
end

function forms.rows(result)
  local shape = result.rows or result.page
  local fields = { { name = result.rows and "rows" or "data", type = { list = { record = { name = shape,
    fields = compile_fields(shape) } } } }, result.page and { name = "page", type = "integer" } }
  return one(result.rows and "rows" or "page", extend(fields, count_fields(result)))
end

forms.page = forms.rows

local made = setmetatable({}, { __mode = "k" })

--- Returns the decoder of a row, made at the first use.
function M.of(row)
  local decoder = made[row]
  if not decoder then
    decoder = core.decoder(forms[M.form_of(row.result)](row.result), row.effect == "read")
    made[row] = decoder
  end
  return decoder
end

function M.of_errors()
  return core.decoder { record = { name = "error", fields = envelope } }
end

return M
