-- SPDX-License-Identifier: MIT
-- The requests under way: calls of tools one after the other, so two payments never meet inside of a server. Meanwhile
-- further requests are answered at once, a client can cancel, and a client with a token reads of progress.

local message = require "purser.desk.agent.message"
local schedule = require "purser.schedule"

local M = {}

--- The pause before each progress notice of a call. (A notice just before the answer reaches some clients after the
--- answer, as a notice of nothing.)
M.PROGRESS_MS = 2000

---@class purser.agent.Work
---@field count integer       requests that are not answered yet
---@field private open table<string, table>  by the text of their id
---@field private line table[]  jobs that wait
---@field private is_busy boolean
local Work = {}
Work.__index = Work

--- Tells the client of a call from time to time that the call is under way, where the client gave a token.
---@param request table  with its revision
function M.tell(request)
  local meta = message.member(request.params, "_meta") or {}
  local token, send, told = message.echo(meta.progressToken), request.send, 0
  if not (token and send) then return end
  schedule.spawn(function()
    while true do
      schedule.sleep(M.PROGRESS_MS)
      if request.is_done or request.is_cancelled then return end
      told = told + 1
      send(message.encoded { jsonrpc = "2.0", method = "notifications/progress", params = { progressToken = token,
        progress = told, message = request.revision.notes and ("under way for %d s"):format(
          math.floor(told * M.PROGRESS_MS / 1000)) or nil } })
    end
  end)
end

-- Returns an answer as text, whatever the answer holds.
local function encoded(answer)
  local ok, text = pcall(message.encoded, answer)
  return ok and text or message.encoded(message.failure(answer.id, message.INTERNAL,
    "the answer cannot be written; call status before anything else"))
end

-- Answers the requests of a job. Returns the line, or nil for none.
local function run(self, job)
  local answers = {}
  for _, request in ipairs(job.requests) do
    request.send = job.send
    local answer = not request.is_cancelled and (request.failure or job.answer(request))
    request.is_done = true
    if not request.is_cancelled then answers[#answers + 1] = encoded(answer) end
    if self.open[request.id_text] == request then
      self.open[request.id_text], self.count = nil, self.count - 1
    end
  end
  if not answers[1] then return nil end
  return job.is_batch and "[" .. table.concat(answers, ",") .. "]" or answers[1]
end

local function run_all(self)
  while self.line[1] do
    local job = table.remove(self.line, 1)
    local text = run(self, job)
    if text then job.send(text) end
  end
  self.is_busy = false
end

-- Keeps requests as open, until they are answered. A request whose id is open already becomes a failure.
local function keep(self, requests)
  for i, request in ipairs(requests) do
    if self.open[request.id_text] then
      requests[i] = { failure = message.failure(request.id, message.INVALID_REQUEST,
        "a request of this id is under way") }
    elseif not request.failure then
      self.open[request.id_text], self.count = request, self.count + 1
    end
  end
end

local function has_call(requests)
  for _, request in ipairs(requests) do
    if request.method == "tools/call" then return true end
  end
end

--- Answers the requests of a line, which `answer` does one by one. Returns the answer; with `send`, `send` gets the
--- answer, of a call of a tool by a task later.
---@param requests table[]
---@param is_batch boolean
---@param answer fun(request: table): table
---@param send fun(line: string)|nil
---@return string|nil line
function Work:take(requests, is_batch, answer, send)
  local job = { requests = requests, is_batch = is_batch, answer = answer, send = send }
  keep(self, requests)
  if not send or not has_call(requests) then
    local text = run(self, job)
    if not (text and send) then return text end
    return send(text)
  end
  self.line[#self.line + 1] = job
  if not self.is_busy then
    self.is_busy = true
    schedule.spawn(run_all, self)
  end
end

--- Cancels a request that is not answered yet: nothing more is sent for the request. A call that has not begun never
--- begins; a call that has begun ends as though the client still waited.
---@param id_text string
function Work:cancel(id_text)
  local request = self.open[id_text]
  if request then request.is_cancelled = true end
end

function M.new() return setmetatable({ count = 0, open = {}, line = {}, is_busy = false }, Work) end

return M
