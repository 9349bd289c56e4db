-- SPDX-License-Identifier: MIT
-- A machine whose OpenSSL has neither MD5 nor random bytes for us, as one that is confined to FIPS without its module:
-- nothing is sent, nothing is raised, and what is wrong is said.

local files = require "files"

local PROGRAM = [[
local purser = require "purser"
local sent = 0
local now = 1700000000000
local client = assert(purser.new { base_url = "http://localhost", api_key = "key", secret_key = "secret", retry = false,
  clock = function() return now end, transport = { send = function(_, request)
    if request.method ~= "GET" then sent = sent + 1 end
    return { status = 200, headers = "", body = '[]' }
  end } })
local function show(name, value, err)
  print(name, value == nil and (type(err) == "table" and err.kind .. " " .. err.outcome or "-"), tostring(err))
end
show("md5", require("purser.core").md5_hex "x")
show("client_id", purser.client_id())
show("withdraw", client.broker:withdraw { coin = "USDT", network = "TRX", address = "T", amount = "5",
  funds_password = "correct horse" })
show("create", client.broker:create_sub_account { subAccount = "desk00001", note = "n",
  funds_password = "correct horse" })
show("transfer", client.sub_account:transfer { toAccount = "desk00001", fromAccountType = "SPOT",
  toAccountType = "SPOT", asset = "USDT", amount = "5" })
show("own id", client.wallet:withdraw { coin = "USDT", address = "T", amount = "5", withdrawOrderId = "invoice-1" })
show("prepare", client:prepare("wallet.transfer", { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT",
  amount = "5" }, { info = {} }))
local walk = client.wallet:each_deposit { from = now - 86400000 }
show("walk", walk:next() == nil)
show("cursor", walk:cursor())
show("saved", client.wallet:each_deposit { cursor = walk:cursor() }:next() == nil)
print("sent", sent)
]]

local CONFIGURATION = [[
openssl_conf = init
[init]
alg_section = algorithms
[algorithms]
default_properties = fips=yes
]]

describe("where OpenSSL rejects MD5 and has no random bytes", function()
  local said = {}

  setup(function()
    local program, configuration = os.tmpname(), os.tmpname()
    files.write(program, PROGRAM)
    files.write(configuration, CONFIGURATION)
    local command = ("OPENSSL_CONF=%s %s %s 2>&1"):format(configuration, os.getenv "LUA" or "lua5.4", program)
    local pipe = assert(io.popen(command))
    for line in pipe:lines() do
      local name, rest = line:match "^([^\t]*)\t(.*)$"
      said[name or line] = rest or line
    end
    pipe:close()
    os.remove(program)
    os.remove(configuration)
  end)

  it("nothing is sent", function()
    assert.matches("OpenSSL rejected MD5", said.md5)
    assert.equal("0", said.sent)
  end)

  it("a funds password is not left out of a request", function()
    for _, name in ipairs { "withdraw", "create" } do
      assert.matches("^config not_sent", said[name])
      assert.matches('parameter "funds_password" cannot be hashed: OpenSSL rejected MD5', said[name])
      assert.matches('give its hexadecimal MD5 as "password"', said[name])
      assert.is_nil(said[name]:find("correct horse", 1, true))
    end
  end)

  it("an id that cannot be made is an error", function()
    for _, name in ipairs { "transfer", "own id", "prepare" } do
      assert.matches("^config not_sent.*no random id could be made", said[name])
    end
    assert.matches("no random bytes", said.client_id)
  end)

  it("a walk and its cursor work", function()
    assert.matches("^false", said.walk)
    assert.matches("^false", said.cursor)
    assert.matches("^false", said.saved)
  end)
end)
