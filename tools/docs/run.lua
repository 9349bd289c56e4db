-- SPDX-License-Identifier: MIT
-- The code blocks of the documentation, and a world of the simulator to run them in.
--
-- Every ```lua and ```sh block runs, in its page's order; the blocks of one page share their globals. In them stand for
-- themselves: `purser`, `client` (the key of a main account that is also a broker), `desk` (the key of its sub-account
-- tradingdesk1), `saved_address`, `journal_path` (of a file that is not there yet), `keys_path` (a file of the keys
-- of `client`), and http://127.0.0.1:8080 as the address of the service. A block that
-- shows a program whole names it after the language, ```lua file: examples/..., and is run by a spec of its own.

local M = {}

local read = dofile("tools/whole_files.lua").read

--- The fenced blocks of a page: { path, line, language, file, text }.
---@param path string
function M.blocks(path)
  local blocks, block, number = {}, nil, 0
  for line in read(path):gmatch "([^\n]*)\n" do
    number = number + 1
    local fence, info = line:match "^%s*(```)(.*)$"
    if fence and block then
      assert(info == "", ("%s:%d: a block begins inside another"):format(path, number))
      block.text = table.concat(block, "\n") .. "\n"
      blocks[#blocks + 1], block = block, nil
    elseif fence then
      local language, rest = info:match "^(%w*)%s*(.*)$"
      block = { path = path, line = number, language = language, file = rest:match "^file: (%S+)$" }
      assert(rest == "" or block.file, ("%s:%d: what does %q mean?"):format(path, number, rest))
    elseif block then
      block[#block + 1] = line
    end
  end
  assert(not block, path .. ": a block does not end")
  return blocks
end

--- Joins the Lua blocks of a page that is one program; each line keeps its number. The other blocks come before it.
---@param blocks table[]
---@return table[]
function M.one_program(blocks)
  local lines, joined = {}, {}
  for _, block in ipairs(blocks) do
    if block.language == "lua" then
      while #lines < block.line do lines[#lines + 1] = "" end
      for line in block.text:gmatch "([^\n]*)\n" do lines[#lines + 1] = line end
    else
      joined[#joined + 1] = block
    end
  end
  table.insert(joined, { path = blocks[1].path, line = 0, language = "lua", text = table.concat(lines, "\n") })
  return joined
end

--- Fills a simulator with what the examples speak of. Returns the accounts and clients.
---@param service table  a started simulator: url, world
function M.furnish(service)
  local purser = require "purser"
  local world = service.world
  local main = assert(world:account {
    name = "Acme", role = "broker", email = "treasury@acme.example",
    balances = { USDT = "25000", BTC = "0.75", MX = "12", DOGE = "4.5", XRP = "1.25" },
  })
  assert(world:account { name = "Friend", role = "user", email = "friend@mail.example" })
  local function client_of(key)
    return assert(purser.new { base_url = service.url, api_key = key.api_key, secret_key = key.secret_key })
  end
  local client = client_of(main)
  assert(client.broker:create_sub_account { subAccount = "tradingdesk1", note = "first desk" })
  local key = assert(client.broker:create_api_key {
    subAccount = "tradingdesk1", note = "desk",
    permissions = require("purser.client.operations.parameters").choices.broker_permissions,
  })
  local desk = client_of { api_key = key.apiKey, secret_key = key.secretKey }
  assert(client.broker:transfer {
    clientTranId = purser.client_id(), toAccount = "tradingdesk1", fromAccountType = "SPOT", toAccountType = "SPOT",
    asset = "USDT", amount = "500",
  })
  local own = assert(client.wallet:create_deposit_address { coin = "USDT", network = "Tron(TRC20)" })
  assert(world:deposit { address = own.address, coin = "USDT", network = own.network, amount = "1250.5" })
  local saved_address = "TJRyWwFs9wTFGZg3JbrVriFbNfCug5tDeC"
  for _, owner in ipairs { main.uid, "tradingdesk1" } do
    -- the desk has its own address book; the main account's serves when a sub-account cannot have one
    local ok, message = world:save_address {
      account = owner, coin = "USDT", network = "Tron(TRC20)", address = saved_address,
    }
    assert(ok or owner ~= main.uid, message)
  end
  local journal_path = os.tmpname()
  os.remove(journal_path) -- it was made with its name
  local keys_path = os.tmpname()
  assert(purser.vault.write_keys(keys_path, { api_key = main.api_key, secret_key = main.secret_key,
    base_url = service.url }, { replace = true }))
  return { main = main, client = client, desk = desk, saved_address = saved_address, journal_path = journal_path,
    keys_path = keys_path }
end

--- An environment for the Lua blocks of one page; what they print goes into `printed`.
function M.environment(service, fixture, printed)
  local env = { purser = require "purser", client = fixture.client, desk = fixture.desk,
    saved_address = fixture.saved_address, journal_path = fixture.journal_path, keys_path = fixture.keys_path }
  local variables = { PURSER_ACCOUNT = "treasury", PURSER_API_KEY = fixture.main.api_key,
    PURSER_SECRET_KEY = fixture.main.secret_key, PURSER_BASE_URL = service.url }
  env.os = setmetatable({ getenv = function(name) return variables[name] or os.getenv(name) end }, { __index = os })
  env.print = function(...)
    local texts = { ... }
    for i = 1, select("#", ...) do texts[i] = tostring(texts[i]) end
    printed[#printed + 1] = table.concat(texts, "\t")
  end
  env._G = env
  return setmetatable(env, { __index = _G })
end

local function at(block)
  return ("%s:%d"):format(block.path, block.line)
end

--- Runs one Lua block. Raises with the page and line of what went wrong.
function M.run_lua(block, service, env)
  local text = ("\n"):rep(block.line) .. block.text:gsub("http://127%.0%.0%.1:8080", service.url)
    :gsub('"payments%.db"', '"' .. env.journal_path .. '"') -- of the README
  local chunk
  if setfenv then -- luacheck: ignore 113
    chunk = assert(loadstring(text, "@" .. block.path)) -- luacheck: ignore 113
    setfenv(chunk, env) -- luacheck: ignore 113
  else
    chunk = assert(load(text, "@" .. block.path, "t", env))
  end
  local ok, err = pcall(chunk)
  if not ok then error(("%s: %s"):format(at(block), tostring(err)), 0) end
end

local function quote(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

--- Runs one shell block with `purser` as a command, of this Lua, and the keys in the environment. Raises when a command
-- fails.
function M.run_sh(block, service, fixture)
  local text = block.text:gsub("http://127%.0%.0%.1:8080", service.url)
  text = ([[purser() { '%s' "$command_line" "$@"; }]]):format(os.getenv "LUA" or "lua5.4") .. "\n" .. text
  local command = ([[command_line=$PWD/bin/purser PURSER_ACCOUNT=treasury PURSER_BASE_URL=%s PURSER_API_KEY=%s \
    PURSER_SECRET_KEY=%s
    export command_line PURSER_ACCOUNT PURSER_BASE_URL PURSER_API_KEY PURSER_SECRET_KEY
    cd %s; sh -euc %s 2>&1; echo exit $?]]):format(quote(service.url), quote(fixture.main.api_key),
    quote(fixture.main.secret_key), quote(fixture.folder), quote(text))
  local pipe = assert(io.popen(command))
  local output = pipe:read "*a"
  pipe:close()
  if not output:find "exit 0\n$" then error(("%s: %s"):format(at(block), output), 0) end
  return output
end

return M
