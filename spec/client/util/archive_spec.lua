-- SPDX-License-Identifier: MIT
-- An installation's archive of modules: it does what the sources do, names their lines, and opens nothing later; a Lua
-- that it does not fit takes the sources.

local archive = require "purser.client.util.archive"
local files = require "files"

local lua = os.getenv "LUA" or "lua5.4"

-- Everything that a client may need, after `prelude`. Lost calls, unknown options and rejections included.
local SCRIPT = [[
  local purser = require "purser"
  %s
  local world = assert(purser.sim.new { seed = 1 })
  local account = world:account { name = "A", role = "main", balances = { USDT = "500" } }
  local service, lose = world:transport(), false
  local client = assert(purser.new { base_url = "http://127.0.0.1:1", clock = function() return world:now() end,
    api_key = account.api_key, secret_key = account.secret_key, transport = {
      sleep = function(_, ms) return service:sleep(ms) end, send = function(_, request)
        local response, failure = service:send(request)
        if not lose or request.method == "GET" then return response, failure end
        print(debug.traceback())
        return nil, { kind = "transport", outcome = "unknown", phase = "receive", sends = 1, message = "lost" }
      end } })
  print(#assert(client.wallet:coins()) > 0, select(2, client.wallet:transfer { asset = 1.5 }))
  local payment = { coin = "USDT", netWork = "TRX", address = "TQrY8tryqsYVCYS3MFbtffiPp2ccyn4STm", amount = "20" }
  assert(client.wallet:withdraw(payment))
  lose, payment.withdrawOrderId = true, "rent-1"
  local _, err = client.wallet:withdraw(payment)
  print(client:reconcile(err).outcome, select(2, client:reconcile "x"))
  lose = false
  print(select(2, client.wallet:withdraw { withdrawOrderId = "rent-2", coin = "NONE", address = "x", amount = "1" }))
  print(pcall(require("purser.decimal"), {}), select(2, purser.new { nonsense = 1 }))
  print(purser.utc.text(0), purser.states.name ~= nil)
]]

describe("the archive", function()
  local folder

  local function run(path, prelude)
    local script = folder .. "/script.lua"
    files.write(script, SCRIPT:format(prelude or ""))
    local pipe = assert(io.popen(("cd %s && LUA_PATH='%s/?.lua;%s/?/init.lua;;' %s script.lua 2>&1")
      :format(folder, path, path, lua)))
    local said = pipe:read "*a"
    pipe:close()
    return (said:gsub("0x%x+", "0x"):gsub("in function '[^']+'", "in function")) -- which of two names is by chance
  end

  before_each(function()
    folder = files.folder()
    assert(os.execute(("cp -R lua/purser %s/"):format(folder)))
    assert(os.execute(("%s tools/archive.lua %s/purser"):format(lua, folder)))
  end)
  after_each(function() files.remove(folder) end)

  local function path_of_archive() return ("%s/purser/%s"):format(folder, (select(2, archive.probe()))) end

  it("does what the sources do, and its messages name their files and lines", function()
    local installed = run(folder)
    os.remove(path_of_archive())
    assert.equal(run(folder), installed)
    assert.matches("true\t.*asset", installed)
    assert.matches("purser/client/call/pipeline.lua:%d+: in", installed)
    assert.matches("\ndone\t", installed)
  end)

  it("is all that is read: once `purser` is loaded the modules may be gone", function()
    local gone = ("assert(os.execute 'rm -r %s/purser') package.path = ''"):format(folder)
    local said = run(folder, gone)
    assert.matches("\ndone\t", said)
    assert.is_nil(said:find("not found", 1, true), said)
  end)

  it("is no memory of the process: what was loaded was copied from its pages", function()
    local said = files.output_of(([[cd %s && LUA_PATH='%s/?.lua;%s/?/init.lua;;' %s -e '
      local purser, resident = require "purser", nil
      assert(purser.sim and purser.payouts and purser.books)
      for line in io.lines "/proc/self/smaps" do
        if line:find "/modules%%-%%x+$" then resident = 0 end
        resident = resident == 0 and line:match "^Rss:%%s+(%%d+) kB" or resident
      end
      print(resident)' 2>&1]]):format(folder, folder, folder, lua))
    assert.equal("0\n", said)
  end)

  it("is not taken by a Lua that it does not fit, nor where it is damaged", function()
    local path, expected = path_of_archive(), run(folder)
    local whole = files.read(path)
    local head = 22 + tonumber(whole:sub(12, 22)) -- the counts and the probe; lines of 80 bytes follow
    local function changed(at, text) return whole:sub(1, at) .. text .. whole:sub(at + #text + 1) end
    local far = ("%11d"):format(#whole)
    for i, text in ipairs { "", "x\n", changed(22, "X"), changed(0, far), changed(11, far), whole:sub(1, head),
      whole:sub(1, head + 5000), whole:sub(1, head + 300), whole:sub(1, -2),
      changed(head + 80 * 5 + 69, far) } do
      files.write(path, text)
      assert.equal(expected, run(folder), i)
    end
  end)

  it("is known by a name that other Luas do not have, as far as their dumps differ", function()
    local dump, name = archive.probe()
    assert.matches("^modules%-%x%x%x%x%x%x$", name)
    for _, other in ipairs { "lua5.1", "lua5.2", "lua5.3", "lua5.4", "luajit" } do
      local pipe = assert(io.popen(("%s -e 'local dump, name = dofile(\"lua/purser/client/util/archive.lua\").probe()"
        .. " io.write(name, \" \", dump)' 2>/dev/null"):format(other)))
      local text = pipe:read "*a"
      pipe:close()
      if text ~= "" then assert.equal(text:sub(16) == dump, text:sub(1, 14) == name, other) end
    end
  end)
end)
