-- SPDX-License-Identifier: MIT
-- A file of another kind than the command reads is refused with the name of the kind, and no byte of the file.

local commands = require "purser.cli.commands"
local documents = require "purser.cli.documents"
local files = require "files"
local grammar = require "purser.cli.grammar"
local terminal = require "purser.cli.terminal"

local SECRET = "7c1f"
local TEXTS = {
  { "a database, such as a journal", "SQLite format 3\0" .. SECRET },
  { "a signature", "-----BEGIN SSH SIGNATURE-----\n" .. SECRET },
  { "a key of ssh", "-----BEGIN OPENSSH PRIVATE KEY-----\n" .. SECRET }, { "a key of ssh", "ssh-ed25519 " .. SECRET },
  { "a key of ssh", "sk-ssh-ed25519@openssh.com " .. SECRET },
  { "a file of keys, for --credentials", "secret_key = " .. SECRET .. "\napi_key = mx0\n" },
  { "a file of keys, for --credentials", "# of carol\napi_key=" .. SECRET },
  { "a file of keys, for --credentials", "credentials_command = pass " .. SECRET },
  { "a fleet's file of secrets", "mx0vgl\t" .. SECRET .. "\tdesk1\n" },
  { "a plan, as `purser payouts plan` writes it", '{"purser":"plan 1","account":"' .. SECRET .. '"}\n' },
  { "a policy", ' { "account": "' .. ("a"):rep(5000) .. '", "accounts": [],\n "purser": "policy 1" }' },
  { "the declaration of a fleet", '{\n"group": "' .. SECRET .. '",\n"accounts" : [] }' },
  { "a list of customers", "customer,key,address\n" .. SECRET }, { "a list of customers", "address;customer\n" },
  { "a list of payments (CSV)", "key,coin\n" .. SECRET }, { "a list of payments (CSV)", "amount;key\n" },
}
local RUNS = {
  ["payouts run FILE"] = "a list of payments (CSV), or a plan, as `purser payouts plan` writes it",
  ["payouts show FILE"] = "a plan, as `purser payouts plan` writes it",
  ["approve FILE --key k"] = "a plan, as `purser payouts plan` writes it",
  ["approvals add x FILE --policy p --journal j"] = "a signature", ["policy check FILE"] = "a policy",
  ["policy check x --against FILE"] = "a policy", ["policy install x y FILE"] = "a signature",
  ["fleet plan FILE --secrets s"] = "the declaration of a fleet",
  ["receive run --customers FILE"] = "a list of customers",
  ["payouts status --guard x --guard FILE"] = "a file of guard rules",
}

describe("a file of another kind", function()
  local path, root = os.tmpname(), commands.root()
  teardown(function() os.remove(path) end)

  -- Returns what a command says of a file with the text; nil where it says nothing.
  local function said_of(line, text)
    files.write(path, text)
    local words = {}
    for word in line:gsub("FILE", path):gmatch "%S+" do words[#words + 1] = word end
    local options, _, command = assert(grammar.parse(root, words))
    terminal.settings.json, terminal.settings.failure = true, nil
    local ok, problem = pcall(documents.check, options, command)
    terminal.settings.json = nil
    if ok then return nil end
    assert.equal(2, problem.exit_code)
    return terminal.settings.failure[1][2]
  end

  for line, wanted in pairs(RUNS) do
    it("given to `purser " .. line .. "` is named", function()
      for _, pair in ipairs(TEXTS) do
        local message = said_of(line, pair[2])
        if wanted:find(pair[1], 1, true) then
          assert.is_nil(message)
        else
          assert.matches((": %s is %s; give %s"):format(path, pair[1], wanted), message, 1, true)
          assert.not_matches(SECRET, message, 1, true)
        end
      end
      for _, text in ipairs { "", "x", '{"read_only": true}', "accounts,keys\n", "\nkey,coin\n" } do
        assert.is_nil(said_of(line, text))
      end
    end)
  end

  it("says nothing of a file that is missing, and reads none of the keys", function()
    assert.is_nil(said_of("payouts show /none", ""))
    assert.is_nil(said_of("policy sign x --key FILE", TEXTS[1][2]))
    assert.is_nil(said_of("doctor --credentials FILE", TEXTS[1][2]))
  end)
end)
