-- SPDX-License-Identifier: MIT
-- Files read and written whole; files with secrets are the user's alone.

local core = require "purser.core"
local lazy = require "purser.client.util.lazy"
local json_tree = lazy "purser.client.util.json_tree"

local M = {}

--- The SQLite databases of this process, each with `handle` while open, and `files` with `id`. This module never opens
--- a file of an open database: close() would drop the process's fcntl(2) locks on the file.
M.databases = setmetatable({}, { __mode = "k" })

--- Tells whether a path leads to a file of an open database.
function M.is_database(path)
  local _, _, id = core.file_mode(path)
  for db in pairs(M.databases) do
    for _, file in ipairs(db.handle and db.files or {}) do
      if file.id == id then return true end
    end
  end
  return false
end

local HELD = "it is a database that is open"

local function open(path, mode)
  if M.is_database(path) then return nil, HELD end
  return io.open(path, mode)
end

--- Reads a file of secrets by a reader of the core, such as core.read_secret.
function M.secret(read, path, ...)
  if M.is_database(path) then return nil, ("%s cannot be read: %s; name another file"):format(path, HELD), false end
  return read(path, ...)
end

local MAX_BYTES = 256 * 1024 * 1024 -- more than a million payments

-- Returns why a file is not read, or nil: a pipe or a device may never end.
local function unfit(path, file)
  local _, _, _, kind = core.file_mode(file or path)
  if kind == "other" then return "it is not a regular file; name one that is" end
end

local function cannot_read(path, reason)
  reason = tostring(reason)
  if reason:sub(1, #path + 2) == path .. ": " then reason = reason:sub(#path + 3) end
  return ("%s cannot be read: %s"):format(path, reason)
end

--- Opens a regular file. Else nil, a message, and whether the file is missing.
---@param path string
---@param judge function|nil  (path, file) -> why the open file is rejected
---@return file*|nil file, string|nil message, boolean|nil is_missing
function M.open(path, judge)
  if path == "" then return nil, '"" cannot be read: it names no file', false end
  local problem = unfit(path) -- before it is opened: to open a pipe may wait for ever
  if problem then return nil, cannot_read(path, problem), false end
  local file, reason = open(path, "rb")
  if not file then return nil, cannot_read(path, reason), select(3, core.file_mode(path)) == true end
  problem = unfit(path, file)
  if not problem and not file:read(0) then problem = select(2, file:read(1)) end -- a folder can be opened
  local rejection = not problem and judge and judge(path, file)
  if not problem and not rejection then return file end
  file:close()
  return nil, rejection or cannot_read(path, problem), false
end

--- Returns a file's text. Else nil, a message, and whether the file is missing.
---@param path string
---@param judge function|nil  (path, file) -> why the open file is rejected
---@return string|nil text, string|nil message, boolean|nil is_missing
function M.read(path, judge)
  local file, message, is_missing = M.open(path, judge)
  if not file then return nil, message, is_missing end
  local text, reason
  if file:seek "end" > MAX_BYTES then
    reason = ("it is larger than %d MiB"):format(MAX_BYTES / 1024 / 1024)
  else
    file:seek "set"
    text, reason = file:read "*a"
  end
  file:close()
  if text then return text end
  return nil, cannot_read(path, reason), false
end

---@param path string
---@param mode string  of io.open; none that makes a file or empties one
---@return file*|nil file, string|nil message
function M.open_private(path, mode)
  local file, reason = open(path, mode)
  if not file then return nil, tostring(reason) end
  local message = core.distrust(path, file) -- what was opened is judged, and not what has its name by now
  if not message then return file end
  file:close()
  return nil, message
end

function M.folder_of(path)
  return path:match "^(.*/)[^/]*$" or "."
end

--- Returns why no file can take a name, or nil. Devices and links keep their names: a rename would replace /dev/full.
function M.name_problem(path)
  if path == "" then return "its name is empty" end
  local _, _, _, kind, _, is_link = core.file_mode(path)
  if kind == "other" then return "it is not a regular file; name one that is, or a new one" end
  if is_link then return "it is a link; name the file that it leads to, or a new one" end
  local folder = io.open(path .. "/.") -- of a FIFO this waits for nothing
  if folder then folder:close() return "it is a folder; name a file in it" end
  local file = open(path, "rb")
  local head = file and file:read(15)
  if file then file:close() end
  return (head == "SQLite format 3" or M.is_database(path))
    and "it is a database, which no text replaces; name another file" or nil
end

-- Makes a new file beside `path` with a random name, readable by this user alone unless `is_public`.
local function write_next_to(path, text, is_public)
  local message = M.name_problem(path)
  if message then return nil, message end
  local token, ok
  token, message = core.random_token(16)
  if not token then return nil, message end
  local fresh = ("%s.%s.new"):format(path, token)
  ok, message = core.write_new(fresh, text, is_public)
  if not ok then return nil, message end
  return fresh
end

--- Begins a file that replaces `path` in one step: write(text), commit() and discard(); `file` is the open file.
function M.draft(path)
  local fresh, reason = write_next_to(path, "")
  if not fresh then return nil, reason end
  local file
  file, reason = io.open(fresh, "r+b")
  if not file then
    os.remove(fresh)
    return nil, reason
  end
  local draft = { file = file }
  function draft.write(_, text) return file:write(text) end
  function draft.discard()
    file:close()
    os.remove(fresh)
  end
  function draft.commit()
    local ok, message = core.sync_file(file)
    if ok then ok, message = file:close() else file:close() end
    if ok then ok, message = os.rename(fresh, path) end
    if not ok then os.remove(fresh) end
    return ok, message
  end
  return draft
end

function M.can_replace(path)
  local fresh, reason = write_next_to(path, "")
  if not fresh then return nil, reason end
  os.remove(fresh)
  return true
end

--- Replaces a file in one step: a crash leaves the old file or the new file. Only this user can read the new file.
---@param path string
---@param text string
---@param is_public boolean|nil  whether others may read it
---@return true|nil ok, string|nil reason
function M.replace(path, text, is_public)
  local fresh, reason = write_next_to(path, text, is_public)
  if not fresh then return nil, reason end
  local ok
  ok, reason = os.rename(fresh, path)
  if ok then return true end
  os.remove(fresh)
  return nil, reason
end

local function object_of(path, text)
  local object, message, offset = core.decode(text)
  if type(object) == "table" and text:find "^%s*{" then return object end -- [] holds no rules, either
  local where = message and (": %s at byte %d"):format(message, offset or 0) or ""
  return nil, ("%s is not the JSON of an object%s"):format(path, where)
end

--- Returns a file's JSON object. Else nil, a message, and whether the file is missing.
function M.read_object(path)
  local text, problem, is_missing = M.read(path)
  if not text then return nil, problem, is_missing end
  return object_of(path, text)
end

-- Returns the name of a member that a decoder drops silently: a null, or the first of two equal names.
local function lost_member(node, name)
  if node.type == "null" then return ("%s is null; give a value, or leave it out"):format(name) end
  local seen = {}
  for i, item in ipairs(node) do
    local member = node.type == "object" and item[1] or ("%s[%d]"):format(name, i)
    if seen[member] then return member .. " is there twice; write it once" end
    seen[member] = true
    local lost = lost_member(node.type == "object" and item[2] or item, member)
    if lost then return lost end
  end
end

local function judge_rules(path, file) return (core.distrust(path, file, true)) end

--- Returns the text of a file that this user or root alone can change. Else nil, a message, and whether it is missing.
function M.read_trusted(path) return M.read(path, judge_rules) end

--- Returns the JSON object of a text that keeps all members. Else nil and a message.
---@param path string  of the text, for the message
---@param text string
---@return table|nil object, string|nil message
function M.rules_of(path, text)
  local object, message = object_of(path, text)
  if not object then return nil, message end
  local tree = json_tree.read(text)
  local lost = tree and lost_member(tree, path) or not tree and "it is nested too deep"
  if lost then return nil, ("%s: %s"):format(path, lost) end
  return object
end

--- Returns the JSON object of a trusted file; or nil and a message.
function M.read_rules(path)
  local text, problem = M.read_trusted(path)
  if not text then return nil, problem end
  return M.rules_of(path, text)
end

return M
