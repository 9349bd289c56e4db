-- SPDX-License-Identifier: MIT
-- A program that forks in the middle of a write call, in a hook: both processes have the request, and one sends it.
-- Lua 5.4 cannot fork by itself; LuaJIT can, through its FFI.
-- make test: 1 s, on luajit

local has_ffi, ffi = pcall(require, "ffi")
if not has_ffi then return end

local core = require "purser.core"
local files = require "files"
local purser = require "purser"

pcall(ffi.cdef, "int fork(void); int waitpid(int pid, int *status, int options); void _exit(int status);")

local sim, account, path, sends

before_each(function()
  path = os.tmpname()
  sends = assert(io.open(path .. ".sends", "a+"))
  sends:setvbuf "no"
  sim = purser.sim.new { seed = 5, repeated_ids = "execute" }
  account = assert(sim:account { name = "Acme", role = "broker", balances = { USDT = "1000" } })
  assert(sim:account { name = "tradingdesk1", role = "sub", parent = account.uid })
end)

after_each(function()
  sends:close()
  for _, suffix in ipairs { "", "-wal", "-shm", ".witness", ".witness-wal", ".witness-shm", ".sends", ".text" } do
    os.remove(path .. suffix)
  end
  os.execute(("rm -f '%s'.witness-w*"):format(path))
end)

-- A client with a transport of the program's own, which notes what it sends; both processes write to that file.
local function client_with(journal, hook)
  local inner = sim:transport()
  local transport = { sleep = function(_, ms) inner:sleep(ms) end, send = function(_, request)
    if request.method == "POST" then sends:write(request.operation, "\n") end
    return inner:send(request)
  end }
  return assert(purser.new { base_url = "http://localhost", api_key = account.api_key, account = "treasury",
    secret_key = account.secret_key, transport = transport, clock = function() return sim:now() end, rate_limit = false,
    journal = journal, hooks = { before = hook } })
end

local function count_sends()
  sends:seek "set"
  local count = 0
  for _ in sends:lines() do count = count + 1 end
  return count
end

-- Waits, in the child, until its parent has done its part.
local function await_parent()
  for _ = 1, 6000 do
    local file = io.open(path .. ".text")
    if file then return file:close() end
    core.sleep_ms(10)
  end
end

-- A hook that forks once, at a write call; and what waits for the child, which ends here with what `fn` returns.
local function forking(operation)
  local pid
  local function hook(event)
    if event.operation ~= operation or pid then return end
    pid = ffi.C.fork()
    if pid == 0 then await_parent() end
  end
  return hook, function(fn)
    if pid == 0 then
      local ok, result = pcall(fn)
      ffi.C._exit(ok and result and 0 or 1)
    end
    files.write(path .. ".text", "")
    local status = ffi.new "int[1]"
    assert.equal(pid, ffi.C.waitpid(pid, status, 0))
    assert.equal(0, status[0])
  end
end

describe("a write call during which a hook forks", function()
  it("is sent by the parent alone, and its outcome is unknown to the child", function()
    local hook, in_child = forking "wallet.transfer"
    local client = client_with(nil, hook)
    local result, err = client.wallet:transfer { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT",
      amount = "5" }
    in_child(function() return not result and err.outcome == "unknown" and err.intent and err.message:find "forked" end)
    assert.is_nil(err)
    assert.equal(1, count_sends())
  end)

  it("is unknown to the child, too, when something is raised there before it sends: the parent may have", function()
    local parent, fork_once, in_child = core.process_id(), forking "wallet.transfer"
    local client = client_with(nil, function(event)
      fork_once(event)
      if core.process_id() ~= parent then error "by the hook" end
    end)
    -- what a hook raises is noted in `info`, and that may raise as well
    local info = setmetatable({}, { __newindex = function(info, name, value)
      if core.process_id() ~= parent then error "raised in the child" end
      rawset(info, name, value)
    end })
    local result, err = client.wallet:transfer({ fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT",
      amount = "5" }, { info = info })
    in_child(function()
      return not result and err.outcome == "unknown" and err.message:find("raised in the child", 1, true)
    end)
    assert.is_nil(err)
    assert.equal(1, count_sends())
  end)

  it("is a payment that is sent once, though both processes run the queue to its end", function()
    local hook, in_child = forking "sub_account.transfer"
    local journal = assert(purser.journal.open { sqlite = path })
    local payouts = assert(purser.payouts.new { client = client_with(journal, hook), journal = journal, worker = "one",
      retry_ms = 1, idle_ms = 1 })
    for i = 1, 3 do
      assert(payouts:add("key " .. i, "sub_account.transfer", { toAccount = "tradingdesk1", fromAccountType = "SPOT",
        toAccountType = "SPOT", asset = "USDT", amount = tostring(i) }))
    end
    payouts:run()
    in_child(function() return true end)
    assert.equal(3, count_sends())
    journal:close()
  end)
end)

it("Calls of a child have names of their own, so that its intents are not taken for its parent's", function()
  local client = client_with()
  local function intent()
    local info = {}
    assert(client.wallet:transfer({ fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "5" },
      { info = info }))
    return info.intent
  end
  local first = intent()
  local pid = ffi.C.fork()
  if pid == 0 then
    local file = io.open(path .. ".text", "w")
    file:write(intent().id)
    file:close()
    ffi.C._exit(0)
  end
  ffi.C.waitpid(pid, nil, 0)
  local own = intent().id
  local file = assert(io.open(path .. ".text"))
  local of_child = file:read "*a"
  file:close()
  assert.matches("^%w+$", of_child)
  assert.not_equal(own, of_child)
  assert.not_equal(first.id, own)
end)
