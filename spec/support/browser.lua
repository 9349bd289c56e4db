-- SPDX-License-Identifier: MIT
-- A headless Chromium, driven over the WebDriver protocol by way of chromedriver:
--
--   local browser = require("browser").start { dark = true, width = 1280, height = 900 }
--   browser:open "http://127.0.0.1:8080/console"
--   browser:click(browser:find "#deposit button")
--   browser:stop()

local core = require "purser.core"
local eventually = require "eventually"
local libcurl = require "purser.client.util.libcurl"
local json = require "purser.json"

local Browser = {}
Browser.__index = Browser

local M = {}

local ELEMENT = "element-6066-11e4-a52e-4f735466cecf" -- the protocol's own name of a reference to an element

local function exchange(self, method, path, body)
  local response, failure = self.http:send {
    method = method, target = path, headers = { ["Content-Type"] = "application/json" },
    body = body and json.encode(body) or "", timeout_ms = 300000,
  }
  if not response then error("chromedriver: " .. failure.message, 0) end
  local answer = assert(core.decode(response.body))
  if response.status ~= 200 then error(("chromedriver: %s: %s"):format(answer.value.error, answer.value.message), 0) end
  return answer.value
end

function Browser:command(method, path, body)
  return exchange(self, method, "/session/" .. self.session .. path, body)
end

function Browser:open(url) self:command("POST", "/url", { url = url }) end

--- The element that a CSS selector finds.
function Browser:find(selector)
  return self:command("POST", "/element", { using = "css selector", value = selector })[ELEMENT]
end

function Browser:click(element) self:command("POST", "/element/" .. element .. "/click", json.object {}) end

--- Types into an element, or presses keys where the focus is when `element` is nil.
function Browser:type(element, text) self:command("POST", "/element/" .. element .. "/value", { text = text }) end

function Browser:clear(element) self:command("POST", "/element/" .. element .. "/clear", json.object {}) end

--- Presses one key in whatever has the focus.
function Browser:press(key)
  self:command("POST", "/actions", { actions = json.list {
    { type = "key", id = "keys",
      actions = json.list { { type = "keyDown", value = key }, { type = "keyUp", value = key } } },
  } })
end

--- Runs the body of a function in the page and returns what it returns.
function Browser:run(script, ...)
  return self:command("POST", "/execute/sync", { script = script, args = json.list { ... } })
end

--- Makes the page's window that large, smaller than a real one may be.
function Browser:resize(width, height)
  self:command("POST", "/goog/cdp/execute", { cmd = "Emulation.setDeviceMetricsOverride",
    params = { width = width, height = height, deviceScaleFactor = 1, mobile = false } })
end

--- Returns how far the page is wider than its window, in pixels.
function Browser:overflow()
  return self:run "return Math.max(0, document.documentElement.scrollWidth - window.innerWidth)"
end

--- Returns what axe-core finds wrong with the page as it is now: `rule: element` each.
function Browser:violations()
  local file = assert(io.open("build/axe/node_modules/axe-core/axe.min.js", "rb"))
  self:run(file:read "*a")
  file:close()
  local found = self:command("POST", "/execute/async", { args = json.list {}, script = [[
    const done = arguments[arguments.length - 1];
    const run = axe.run({ preload: false });
    run.then(({ violations, passes }) => done({ checked: passes.length, found: violations.flatMap((one) =>
      one.nodes.map((node) => one.id + ": " + node.target.join(" ") + " " + node.failureSummary)) }),
      (error) => done({ checked: 0, failure: String(error) }))]] })
  assert(found.checked > 0, found.failure or "axe-core checked nothing")
  return found.found
end

--- Waits until the body of a function returns something true, and returns that.
function Browser:wait(script) return eventually(function() return self:run(script) end, nil, script) end

--- Returns what the page wrote to its console as errors and warnings.
function Browser:errors() return self:command("POST", "/se/log", { type = "browser" }) end

local digits = {}
for i = 1, 64 do
  digits[("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"):sub(i, i)] = i - 1
end

local function from_base64(text)
  local bytes = {}
  for a, b, c, d in text:gmatch("(.)(.)(.)(.)") do
    local bits = digits[a] * 262144 + digits[b] * 4096 + (digits[c] or 0) * 64 + (digits[d] or 0)
    local three = string.char(math.floor(bits / 65536), math.floor(bits / 256) % 256, bits % 256)
    bytes[#bytes + 1] = three:sub(1, d ~= "=" and 3 or c ~= "=" and 2 or 1)
  end
  return table.concat(bytes)
end

--- Saves what the window shows as a PNG.
function Browser:screenshot(path)
  local file = assert(io.open(path, "wb"))
  assert(file:write(from_base64(self:command("GET", "/screenshot"))))
  file:close()
end

function Browser:stop()
  if not self.pipe then return end
  pcall(self.command, self, "DELETE", "")
  self.http:close()
  os.execute(("kill %d 2>/dev/null"):format(self.pid))
  self.pipe:close()
  self.pipe = nil
end

local function start_driver()
  local pipe = assert(io.popen("sh -c 'echo $$; exec chromedriver --port=0' 2>&1", "r"))
  local pid, said = tonumber(pipe:read "*l"), {}
  for line in pipe:lines() do
    said[#said + 1] = line
    local port = line:match("started successfully on port (%d+)")
    if port then return pipe, pid, port end
  end
  error("chromedriver did not start: " .. table.concat(said, "\n"))
end

---@param options { width: integer, height: integer, dark: boolean|nil }
function M.start(options)
  local pipe, pid, port = start_driver()
  local self = setmetatable({ pipe = pipe, pid = pid }, Browser)
  self.http = assert(libcurl.easy { base_url = "http://127.0.0.1:" .. port })
  local arguments = json.list {
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--lang=en",
    ("--window-size=%d,%d"):format(options.width, options.height), options.dark and "--force-dark-mode" or nil,
  }
  local ok, value = pcall(exchange, self, "POST", "/session", { capabilities = { alwaysMatch = {
    browserName = "chrome", timeouts = { script = 240000 }, ["goog:chromeOptions"] = { args = arguments },
    ["goog:loggingPrefs"] = { browser = "ALL" },
  } } })
  if not ok then
    self.session = ""
    self:stop()
    error(value, 0)
  end
  self.session = value.sessionId
  return self
end

return M
