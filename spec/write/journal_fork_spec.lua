-- SPDX-License-Identifier: MIT
-- A program that forks while it holds a client and a journal: the child neither sends over its parent's connection nor
-- writes through its parent's handle of the journal. Lua 5.4 cannot fork by itself; LuaJIT can, through its FFI.
-- make test: 1 s, on luajit

local has_ffi, ffi = pcall(require, "ffi")
if not has_ffi then return end

local purser = require "purser"
local simulated = require "simulated"

ffi.cdef [[ int fork(void); int waitpid(int pid, int *status, int options); void _exit(int status); ]]

-- Calls `fn` in a child and returns its exit status.
local function in_child(fn)
  local pid = ffi.C.fork()
  if pid == 0 then
    local ok, result = pcall(fn)
    collectgarbage()
    ffi.C._exit(ok and result and 0 or 1)
  end
  local status = ffi.new "int[1]"
  assert.equal(pid, ffi.C.waitpid(pid, status, 0))
  return math.floor(status[0] / 256)
end

describe("a journal over a fork", function()
  it("is opened again by the child, and the parent's stays whole", function()
    local path = os.tmpname()
    local sim, account = simulated.broker()
    local journal = assert(purser.journal.open { sqlite = path })
    local client = simulated.client(sim, account, { rate_limit = false, journal = journal, account = "treasury",
      guard = { spending_limit = { USDT = "5" } } })
    local function move()
      return client.sub_account:transfer { toAccount = "tradingdesk1", fromAccountType = "SPOT",
        toAccountType = "SPOT", asset = "USDT", amount = "1" }
    end
    assert(move())
    local handle = journal.db.handle
    assert.equal(0, in_child(function()
      sim:advance(1000) -- one service gives each of its records another id: here they follow its clock
      local made = move() and move()
      local other = journal.db.handle ~= handle
      journal:close()
      return made and other
    end))
    assert.equal(0, in_child(function()
      journal:close()
      return true
    end))
    assert(move())
    assert(move())
    assert.equal("guard.spending_limit", select(2, move()).code) -- of five, the child made two
    assert.equal(handle, journal.db.handle)
    assert.equal(5, #assert(journal:entries { state = "done" }))
    journal:close()
    for _, suffix in ipairs { "", "-wal", "-shm" } do os.remove(path .. suffix) end
  end)
end)
