-- SPDX-License-Identifier: MIT
-- A journal of an older version or reader is brought to the present one as it is opened.

local approval_rows = require "purser.desk.approvals.approval_rows"
local digests = require "purser.write.digests"
local home = require "purser.write.journal.home"
local json = require "purser.json"
local operations = require "purser.client.operations"
local own = require "own_journal"
local purser = require "purser"
local rules = require "purser.desk.approvals.rules"
local upgrade = require "purser.write.journal.upgrade"

local WITHDRAWAL = { coin = "USDT", netWork = "TRX", address = "TPayee", amount = "5" }
local ROW = operations.by_name["wallet.withdraw"]
local NOW = 1700000000000

describe("a journal that is opened", function()
  local version, reader, likeness = home.VERSION, digests.READER, digests.likeness

  before_each(function() own.begin(approval_rows.TABLES) end)
  after_each(function()
    home.VERSION, digests.READER, digests.likeness, upgrade.steps[8] = version, reader, likeness, nil
    own.finish()
  end)

  local function open() return purser.journal.open { sqlite = own.path } end

  local function meta(name)
    return assert(own.journal.db:rows("SELECT value FROM purser_meta WHERE name = $1", name))[1].value
  end

  -- An open call was no longer equal to its repetition, and would be paid twice.
  it("by a newer reader of addresses has likenesses and destinations made anew, before the first question", function()
    own.within(function(tx)
      local text = json.encode(WITHDRAWAL)
      own.write(tx, "open", NOW, { operation = ROW.full_name, params = text, digest = likeness(ROW, WITHDRAWAL),
        state = "open", destination = "of an older reader" })
      own.write(tx, "pruned", NOW, { operation = ROW.full_name, digest = "old", destination = "kept" })
      own.write(tx, "unknown", NOW, { operation = "wallet.gift", params = text, digest = "old" })
      tx:rows "INSERT INTO purser_meta (name, value) VALUES ('gate', 'policy')"
    end)
    digests.READER = reader + 1
    function digests.likeness(...) return "newer " .. likeness(...) end
    local opened = assert(open())
    local rows = {}
    for _, row in ipairs(opened.db:rows "SELECT id, digest, destination FROM purser_calls") do
      rows[row.id] = { row.digest, row.destination }
    end
    local destination = rules.call(ROW.full_name, WITHDRAWAL).destination
    assert.same({ open = { "newer " .. likeness(ROW, WITHDRAWAL), destination }, pruned = { "old", "kept" },
      unknown = { "old", "" } }, rows)
    assert.equal(tostring(reader + 1), meta "reader")
    opened:close()
  end)

  it("by a newer version is brought there in one transaction, and not at all where a step fails", function()
    home.VERSION = 9
    upgrade.steps[8] = function(tx)
      tx:rows "ALTER TABLE purser_log ADD COLUMN newer TEXT"
      tx:reject "the disk is full"
    end
    local none, err = open()
    assert.is_nil(none)
    assert.matches("the disk is full", err.message)
    assert.equal("8", meta "version")
    upgrade.steps[8] = function(tx) tx:rows "ALTER TABLE purser_log ADD COLUMN newer TEXT" end
    local opened = assert(open())
    assert.same({}, opened.db:rows "SELECT newer FROM purser_log")
    assert.equal("9", meta "version")
    opened:close()
    home.VERSION = 8 -- an older program opens no newer file
    none, err = open()
    assert.is_nil(none)
    assert.matches("use the newer Purser", err.hint)
  end)
end)
