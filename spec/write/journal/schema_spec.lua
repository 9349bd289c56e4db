-- SPDX-License-Identifier: MIT
-- Rows that queues and workers have of their own.

local purser = require "purser"

local path

before_each(function() path = os.tmpname() end)

after_each(function()
  for _, suffix in ipairs { "", "-wal", "-shm" } do os.remove(path .. suffix) end
end)

describe("two queues of one journal", function()
  it("may use the same name of a payment, and each has its own payment", function()
    local journal = assert(purser.journal.open { sqlite = path })
    local params = { toAccount = "d", fromAccountType = "SPOT", toAccountType = "SPOT", asset = "USDT", amount = "2" }
    local client = assert(purser.new { base_url = "http://127.0.0.1:1", api_key = "k", secret_key = "s",
      journal = journal, account = "treasury" })
    for _, queue in ipairs { "may", "june" } do
      local payouts = assert(purser.payouts.new { client = client, journal = journal, queue = queue })
      assert.is_true(payouts:add("rent", "sub_account.transfer", params))
      assert.is_false(payouts:add("rent", "sub_account.transfer", params))
      local _, err = payouts:add("Rent", "sub_account.transfer", params)
      assert.matches('is that of payment "rent" in other letters', err.message, 1, true)
      assert.equal(1, assert(payouts:report()).waiting)
    end
    assert.equal("2", assert(journal.db:rows "SELECT CAST(count(*) AS TEXT) AS n FROM purser_calls")[1].n)
    journal:close()
  end)
end)

describe("the table of calls", function()
  local database = require "purser.client.util.database"
  local schema = require "purser.write.journal.schema"

  local db

  before_each(function() db = assert(database.open({ sqlite = path }, "purser_meta")) end)
  after_each(function() db:close() end)

  it("is there once the database was prepared", function()
    assert.is_false(schema.exists { sqlite = path })
    assert(schema.prepare(db))
    assert.is_true(schema.exists { sqlite = path })
  end)

  it("has one row for a key, for a payment and for a record, and any number without one", function()
    assert(schema.prepare(db))
    local number = 0
    -- Returns whether a row can be added whose other columns are equal to those of all rows.
    local function add(given)
      number = number + 1
      local row = { key = "", queue = "", payment = "", record_id = "", history = "" }
      for name, value in pairs(given) do row[name] = value end
      return (db:rows([[INSERT INTO purser_calls (id, operation, content, params, digest, state, key, form, queue,
        payment, record_id, history) VALUES ($1, 'o', '', '', '', 'done', $2, $3, $4, $5, $6, $7)]],
        ("%d"):format(number), row.key, row.queue ~= "" and row.payment or row.key, row.queue,
        row.payment, row.record_id, row.history)) ~= nil
    end
    for _, given in ipairs { { key = "k" }, { queue = "q", payment = "p" }, { record_id = "r", history = "h" } } do
      assert.same({ true, false }, { add(given), add(given) }, next(given))
    end
    for _, given in ipairs { {}, { payment = "p" }, { record_id = "r" }, { history = "h" } } do
      assert.same({ true, true }, { add(given), add(given) }, next(given))
    end
  end)

  it("has an index for each question of a client, a queue and a look", function()
    assert(schema.prepare(db))
    local found = {}
    for _, index in ipairs(db:rows "SELECT name FROM sqlite_master WHERE name LIKE 'purser_calls_%'") do
      local columns = {}
      local sql = ("SELECT name FROM pragma_index_info('%s') ORDER BY seqno"):format(index.name)
      for _, column in ipairs(db:rows(sql)) do columns[#columns + 1] = column.name end
      found[index.name:gsub("^purser_calls_", "")] = table.concat(columns, " ")
    end
    assert.same({ key = "key", form = "form", client_id = "key operation", payment = "form queue",
      name = "payment queue", record = "record_id history", undecided = "sent_at id", time = "sent_at id",
      state = "state sent_at id", digest = "digest sent_at", answered = "operation sent_at",
      destination = "destination sent_at", stage = "queue stage blocked due_at" }, found)
  end)

  it("is made in no file that speaks for a journal, or is one of another version", function()
    assert(db:rows "CREATE TABLE purser_marks (name TEXT)")
    local ok, message = schema.prepare(db)
    assert.is_nil(ok)
    assert.matches("witness file", message)
    assert(db:rows "DROP TABLE purser_marks")
    assert(schema.prepare(db))
    for version, words in pairs { ["3"] = "of version 3, of a Purser before 0.1",
      ["x"] = "no version", ["99"] = "of version 99" } do
      assert(db:rows("UPDATE purser_meta SET value = $1 WHERE name = 'version'", version))
      ok, message = schema.prepare(db)
      assert.is_nil(ok)
      assert.matches(words, type(message) == "table" and message.text or message)
      if version == "3" then assert.matches("tools/convert%-7", message.hint) end
      if version == "99" then assert.matches("newer Purser", message.hint) end
    end
  end)
end)
