-- The last stage: from an answer to a result. The C decoder types the members by the row's shape; this file takes the
-- result out of whatever envelope it came in, and tells an answer that carries an error from one that carries a result.

local core = require "purser.core"
local shapes = require "purser.shapes"
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

-- `fields` and, behind them, those of `more` whose names they lack.
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

local function form_of(result)
  return result.list and "list" or result.record and "record" or result.page and "page" or "rows"
end

local forms = {}

-- A list: an array of records, or an object one of whose members (data, result, ...) is that array or, in turn, such an
-- object.
function forms.list(result)
  local record = { name = result.list, fields = compile_fields(result.list) }
  local carriers = {}
  for i, name in ipairs { "data", "result", unpack(result.from or {}) } do
    carriers[i] = { name = name, type = { one_or_many = record } }
  end
  if result.from then
    carriers[1].type = { one_or_many = { name = result.list, fields = extend(record.fields, { carriers[3] }) } }
  end
  return { list = { record = record }, record = { name = "list", fields = extend(carriers, envelope) } }
end

local function one(name, fields)
  local bare = { name = name, fields = fields }
  local wrapped = extend(fields, { { name = "data", type = { one_or_many = bare } } })
  return { list = { record = bare }, record = { name = name, fields = extend(wrapped, envelope) } }
end

function forms.record(result)
  return one(result.record, compile_fields(result.record))
end

function forms.page(result)
  return one("page", {
    { name = "data", type = { list = { record = { name = result.page, fields = compile_fields(result.page) } } } },
    { name = "page", type = "integer" }, { name = "totalRecords", type = "integer" },
    { name = "totalPageNum", type = "integer", aliases = { "totalPage" } },
  })
end

function forms.rows(result)
  return one("rows", {
    { name = "rows", type = { list = { record = { name = result.rows, fields = compile_fields(result.rows) } } } },
    { name = "total", type = "integer" },
  })
end

local decoders = setmetatable({}, { __mode = "k" })

--- The decoder of a row's answers, made at its first use.
function M.decoder(row)
  local decoder = decoders[row]
  if not decoder then
    decoder = core.decoder(forms[form_of(row.result)](row.result))
    decoders[row] = decoder
  end
  return decoder
end

M.error_decoder = core.decoder { record = { name = "error", fields = envelope } }

local take = {}

function take.list(result, value)
  if value[1] ~= nil or next(value) == nil then return value end
  local inner = value.data and result.from and value.data[result.from[1]]
  if type(inner) == "table" then value = { data = inner } end
  for _, name in ipairs { "data", "result", unpack(result.from or {}) } do
    local list = value[name]
    if list then return (list[1] ~= nil or next(list) == nil) and list or { list } end
  end
  if value.code then return {} end -- a success envelope without data
  return nil, "the answer holds no list"
end

local function strip_envelope(record)
  if record.code then record.code, record.msg, record.message = nil, nil, nil end
  return record
end

function take.record(result, value)
  local record = value[1] or value
  local data = value.data -- of an element of a list `data` would be any member, of any type
  if data then record = data[1] or data end
  if (data or value)[2] ~= nil then return nil, "the answer holds more than one record" end
  record = strip_envelope(record)
  -- An empty id proves as little as none.
  local proof = record[result.essential]
  if type(proof) ~= "string" or not proof:find "%S" then
    return nil, ("the answer lacks `%s`"):format(result.essential)
  end
  return record
end

function take.page(_, value)
  local page = strip_envelope(value[1] or value)
  if page.data == nil and page.totalRecords == nil then return nil, "the answer holds no page" end
  page.data = page.data or {}
  return page
end

function take.rows(_, value)
  local page, data = value[1] or value, value.data
  if data then page = data[1] or data end
  page = strip_envelope(page)
  if page.rows == nil and page.total == nil then return nil, "the answer holds no rows" end
  page.rows = page.rows or {}
  return page
end

--- Takes the result out of a decoded answer: result, or nil and what is missing.
function M.take(row, value)
  return take[form_of(row.result)](row.result, value)
end

--- The lower-case map of a raw header block (or of a map with names in any case).
function M.headers(raw)
  local map = {}
  if type(raw) == "table" then
    for name, value in pairs(raw) do map[tostring(name):lower()] = value end
    return map
  end
  if type(raw) ~= "string" then return map end
  for name, value in raw:gmatch("([^\r\n:]+):[ \t]*([^\r\n]*)") do map[name:lower()] = value end
  return map
end

return M
