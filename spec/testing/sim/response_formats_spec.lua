-- SPDX-License-Identifier: MIT
-- The answers of each operation, in the interface document's form to the letter.

local answers = require "answers"
local operations = require "purser.client.operations"
local render = require "purser.testing.sim.render"
local response_formats = require "purser.testing.sim.response_formats"

local function answer(id) return render.answer(operations.by_id[id], answers[id].result) end

describe("an answer in the document's form", function()
  for _, row in ipairs(operations.list) do
    it(("%s %s"):format(row.id, row.full_name), function()
      assert.equal(answers[row.id].json, answer(row.id))
    end)
  end

  it("leaves withdrawOrderId out when none was given, and says it when one was", function()
    local record = {}
    for name, value in pairs(answers.C5.result[1]) do record[name] = value end
    record.withdrawOrderId = "mine-1"
    assert.matches('"id":"45","withdrawOrderId":"mine-1","txId":null',
      render.answer(operations.by_id.C5, { record }), 1, true)
    assert.not_matches("withdrawOrderId", answer "C5")
  end)

  it("keeps integers exact up to 2^53", function()
    local json = render.answer(operations.by_id.A2, { subAccount = "a", note = "b", timestamp = 9007199254740991 })
    assert.matches('"timestamp":9007199254740991}', json, 1, true)
  end)
end)

describe("the form of an answer", function()
  local wrappers = { list = true, record = true, page = true, rows = true }

  it("is there for every operation, those of the live service too, as one list, record, page or rows", function()
    for _, rows in ipairs { operations.list, operations.groups.live } do
      for _, row in ipairs(rows) do
        local form, found = assert(response_formats[row.id], row.id), 0
        for name in pairs(form) do found = found + (wrappers[name] and 1 or 0) end
        assert.equal(1, found, row.id)
        assert.equal(form.page ~= nil, form.order ~= nil, row.id)
      end
    end
  end)

  it("is there for no other operation, and names each member of a record once", function()
    for id, form in pairs(response_formats) do
      assert.is_table(operations.by_id[id], id)
      local members, names = form.list or form.record or form.page or form.rows, {}
      for _, part in ipairs { members, members.seen or {} } do
        for _, member in ipairs(part) do
          assert.is_nil(names[member.name], id .. " " .. member.name)
          names[member.name] = true
          assert.equal(member.kind == "records", member.members ~= nil, id .. " " .. member.name)
        end
      end
    end
  end)
end)
