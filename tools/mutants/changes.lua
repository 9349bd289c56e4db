-- SPDX-License-Identifier: MIT
-- Finds the places of a Lua source where one small change can be made, for tools/mutants.lua.
--
--   comparison   == negated; < negated or shifted by one
--   logic        `and` for `or`, `or` for `and`
--   number       an integer, one more or one less
--   statement    a call or an assignment is deleted
--   return       returned values are replaced by nil, true or false
--   member       a member of a table is deleted
--   argument     two neighbouring arguments of a call change places
--   guard        a whole `if ... then return ... end` is deleted
--   money        a comparison of amounts, `a:compare(b)`, is always equal
--   second       the second result of a call is dropped

local M = {}

local function set_of(words)
  local set = {}
  for word in words:gmatch "%S+" do set[word] = true end
  return set
end

local KEYWORDS = set_of [[and break do else elseif end false for function goto if in local nil not or repeat return
  then true until while]]
local OPENERS = set_of "function do if repeat { ( ["
local CLOSERS = set_of "end until } ) ]"
local OPERAND_ENDS = set_of "end nil true false ... } ) ]" -- besides a name, a number and a string
local OPENS_BLOCK = set_of "then else do repeat break ;" -- a statement may follow
local BEFORE_MEMBER = set_of "{ , ;"
local CONTINUES = set_of "and or" -- the keywords that an operand may have behind it in an expression

local OTHERS = {
  ["=="] = { "~=" }, ["~="] = { "==" }, ["<"] = { ">=", "<=" }, ["<="] = { ">", "<" },
  [">"] = { "<=", ">=" }, [">="] = { "<", ">" }, ["and"] = { "or" }, ["or"] = { "and" },
}
local FOR_READERS = set_of "message help text title summary description words cure hint" -- members without a rule

-- Returns the kind and the last byte of the token that begins at a byte.
local function scan(source, first)
  local level = source:match("^%-%-%[(=*)%[", first) or source:match("^%[(=*)%[", first)
  local is_comment = source:find("^%-%-", first)
  if level then
    return is_comment and "comment" or "string", select(2, source:find("]" .. level .. "]", first, true))
  end
  if is_comment then return "comment", (source:find("\n", first, true) or #source + 1) - 1 end
  local name = source:match("^[%a_][%w_]*", first)
  if name then return KEYWORDS[name] and "keyword" or "name", first + #name - 1 end
  local number = source:match("^%.?%d[%w.]*", first)
  if number then return "number", first + #number - 1 end
  local quote, last = source:match("^[\"']", first), first
  if not quote then
    return "mark", first + #(source:match("^%.%.%.?", first) or source:match("^[=~<>:/][=:/<>]", first) or " ") - 1
  end
  repeat last = last + (source:sub(last, last) == "\\" and 2 or 1) until source:sub(last, last) == quote
  return "string", last
end

-- Returns the tokens. An opener and its closer have the depth outside of them; `bracket` is the opener around a token.
local function tokens_of(source)
  local tokens, open, line, at = {}, {}, 1, 1
  while true do
    local blank = source:match("^%s*", at)
    local first = at + #blank
    line = line + select(2, blank:gsub("\n", ""))
    if first > #source then return tokens end
    local kind, last = scan(source, first)
    local text = source:sub(first, last)
    if kind ~= "comment" then
      local is_mark = kind == "mark" or kind == "keyword"
      if is_mark and CLOSERS[text] then table.remove(open) end
      tokens[#tokens + 1] = { text = text, kind = kind, first = first, last = last, line = line, depth = #open,
        bracket = open[#open], opens = is_mark and OPENERS[text],
        ends_operand = is_mark and OPERAND_ENDS[text] or not is_mark }
      if is_mark and OPENERS[text] then open[#open + 1] = text end
    end
    line, at = line + select(2, text:gsub("\n", "")), last + 1
  end
end

-- Returns the last token of the statement, the list of values or the member that begins at token `i`. A comma ends a
-- member alone.
local function last_of(tokens, i, is_member)
  for j = i, #tokens do
    local token, after = tokens[j], tokens[j + 1]
    if token.depth == tokens[i].depth and not token.opens then
      if not after or after.depth < token.depth or after.text == ";" then return token end
      if is_member and after.text == "," then return token, after end
      local is_next = after.kind == "name" or after.kind == "keyword" and not CONTINUES[after.text]
      if token.ends_operand and is_next then return token end
    end
  end
end

-- Returns the index of the closer of the opener at `i`.
local function closer_of(tokens, i)
  for j = i + 1, #tokens do
    if tokens[j].depth == tokens[i].depth and CLOSERS[tokens[j].text] then return j end
  end
end

-- Returns whether the bracket at `i` opens the parameters of a function.
local function is_of_parameters(tokens, i)
  local j = i - 1
  while tokens[j] and (tokens[j].kind == "name" or tokens[j].text == "." or tokens[j].text == ":") do j = j - 1 end
  return tokens[j] and tokens[j].text == "function"
end

-- Returns the arguments of the call whose bracket is at `i`: lists of the first and the last token of each.
local function arguments_of(tokens, i, closer)
  local arguments, from = {}, i + 1
  for j = i + 1, closer do
    local is_end = j == closer or tokens[j].text == "," and tokens[j].depth == tokens[i].depth + 1
    if is_end and j > from then arguments[#arguments + 1] = { tokens[from], tokens[j - 1] } end
    if is_end then from = j + 1 end
  end
  return arguments
end

-- Returns the last token of a guard that begins at `i`, with an `if`: one that only returns.
local function end_of_guard(tokens, i)
  for j = i + 1, #tokens do
    local token = tokens[j]
    if token.text == "then" and token.depth == tokens[i].depth + 1 then
      local closer = tokens[j + 1].text == "return" and closer_of(tokens, i)
      for k = j, closer or 0 do
        local text = tokens[k].depth == tokens[i].depth + 1 and tokens[k].text
        if text == "else" or text == "elseif" then return nil end
      end
      return closer and tokens[closer]
    end
  end
end

-- Returns texts that differ in truth from the returned values.
local function other_values(value)
  if value.kind == "keyword" and (value.text == "nil" or value.text == "false") then return { "return true" } end
  if value.kind == "keyword" and value.text == "true" then return { "return false" } end
  return { "return nil", "return true" }
end

-- Adds the places of the kinds that change values in place of single tokens.
local function add_of_values(source, tokens, i, add)
  local token, before = tokens[i], tokens[i - 1] or { text = ";" }
  local is_call = token.text == "(" and token.kind == "mark" and before.kind ~= "keyword" and before.ends_operand
  if is_call and not is_of_parameters(tokens, i) then
    local closer = closer_of(tokens, i)
    local arguments = arguments_of(tokens, i, closer)
    for n = 1, #arguments - 1 do
      local one, other = arguments[n], arguments[n + 1]
      local first, second = source:sub(one[1].first, one[2].last), source:sub(other[1].first, other[2].last)
      if first ~= second then
        add("argument", one[1], other[2], { second .. source:sub(one[2].last + 1, other[1].first - 1) .. first })
      end
    end
    if before.text == "compare" then
      add("money", token, tokens[closer], { source:sub(token.first, tokens[closer].last) .. " * 0" })
    end
  elseif token.text == "if" and token.kind == "keyword" then
    local last = end_of_guard(tokens, i)
    if last then add("guard", token, last, { "" }) end
  elseif token.text == "=" and before.kind == "name" and (tokens[i - 2] or token).text == "," then
    local last = last_of(tokens, i + 1)
    local is_one_call = last and last.text == ")" and tokens[i + 1].kind == "name"
    if is_one_call then
      add("second", tokens[i + 1], last, { "(" .. source:sub(tokens[i + 1].first, last.last) .. ")" })
    end
  end
end

--- Returns the places of a source by kind: lists of { kind, first, last, line, texts }. A change puts one of the texts
--- in the place of the bytes from first to last.
function M.places_of(source)
  local tokens, places = tokens_of(source), {}
  local function add(kind, from, to, texts)
    places[kind] = places[kind] or {}
    table.insert(places[kind], { kind = kind, first = from.first, last = to.last, line = from.line, texts = texts })
  end
  for i, token in ipairs(tokens) do
    local before, after = tokens[i - 1] or { text = ";" }, tokens[i + 1] or { kind = "end" }
    add_of_values(source, tokens, i, add)
    local number = token.kind == "number" and tonumber(token.text)
    if number and number % 1 == 0 then
      add("number", token, token, { ("%d"):format(number + 1), ("%d"):format(number - 1) })
    end
    if token.kind ~= "string" and OTHERS[token.text] then
      add(token.kind == "mark" and "comparison" or "logic", token, token, OTHERS[token.text])
    elseif token.text == "return" and token.depth > 0 and after.depth == token.depth and after.text ~= ";"
      and not (after.kind == "keyword" and (after.text == "else" or after.text == "elseif")) then
      add("return", token, last_of(tokens, i + 1), other_values(after))
    elseif token.kind == "name" and (before.ends_operand or OPENS_BLOCK[before.text]) then
      add("statement", token, last_of(tokens, i), { "" })
    end
    local is_member = token.bracket == "{" and token.text ~= "}" and BEFORE_MEMBER[before.text]
    if is_member and not (FOR_READERS[token.text] and after.text == "=") then
      local last, comma = last_of(tokens, i, true)
      add("member", token, comma or last, { "" })
    end
  end
  return places
end

return M
