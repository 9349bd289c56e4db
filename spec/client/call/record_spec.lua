-- SPDX-License-Identifier: MIT
-- A record as the result of a call: the member that proves it has to, and nothing may contradict it. unwrap_spec.lua
-- asks the same of every operation's answer.

local record = require "purser.client.call.record"

local WITHDRAWAL = { record = "withdrawal_id", required_member = "id" }
local CODES = { success_codes = { ["0"] = true, ["200"] = true } }

local function take(value, result)
  return record.take(result or WITHDRAWAL, value, CODES)
end

describe("a record", function()
  it("is taken bare, out of an array of one, and out of `data`", function()
    for _, value in ipairs { { id = "1" }, { { id = "1" } }, { data = { id = "1" } }, { data = { { id = "1" } } },
      { code = "0", id = "1" }, { code = "200", data = { id = "1", code = "" } }, { id = "1", data = { id = "1" } } } do
      assert.equal("1", assert(take(value)).id)
    end
  end)

  it("is none where there are two, where two differ, or where an error stands next to it", function()
    for _, case in ipairs {
      { { { id = "1" }, { id = "2" } }, "more than one record" }, { { data = { { id = "1" }, {} } }, "more than one" },
      { { id = "1", data = { id = "2" } }, "two different `id`" },
      { { data = { id = "1", code = "700002" } }, "the error code 700002 next to its record" },
      { { { id = "1", code = "1" } }, "the error code 1 next" },
    } do
      local value, why = take(case[1])
      assert.is_nil(value)
      assert.matches(case[2], why, 1, true)
    end
  end)

  -- member -> texts that prove something, and texts that prove nothing
  local proofs = {
    id = { { "1", "7213fea8e94b4a5593d507237e5a555b", "mx0aBYs33eIilxBWC5", "w_1-a", ("1"):rep(64) },
      { "abc", "0", "00-0", "-1", "1.5", "a b1", ("1"):rep(65), "<1>", "\2261", "null" } },
    address = { { "TAddr", "a:b?dt=1", "rN7n", "alice.near" },
      { "null", "0", "-1", "T x", "<html>", "", ("T"):rep(257), "T\195\164", "..." } },
    totalConvert = { { "0", "0.5", "12" }, { "many", "", "1,5" } },
    subAccount = { { "desk", "0", "\195\164" }, { "", " ", "\t" } },
  }

  for name, texts in pairs(proofs) do
    it("is proved by a text that can be its " .. name .. ", and by no other", function()
      local result = { record = "x", required_member = name }
      for _, text in ipairs(texts[1]) do assert.is_not_nil((take({ [name] = text }, result)), text) end
      for _, text in ipairs(texts[2]) do
        local value, why = take({ [name] = text }, result)
        assert.is_nil(value, text)
        assert.matches("`" .. name .. "`", why, 1, true)
      end
      for _, value in ipairs { {}, { data = {} }, { [name] = 5 }, { [name] = true } } do
        assert.is_nil((take(value, result)))
      end
    end)
  end

  it("of a key is none where the key or its secret cannot be used, and the secret is not quoted", function()
    local result = { record = "api_key", required_member = "apiKey" }
    assert.is_not_nil((take({ apiKey = "mx01", secretKey = "s" }, result)))
    for name, text in pairs { secretKey = "s3cr3t\226\128\139", apiKey = "mx01\226\128\174" } do
      local value, why = take({ apiKey = name == "apiKey" and text or "mx01",
        secretKey = name == "secretKey" and text },
        result)
      assert.is_nil(value)
      assert.matches("delete this key on the platform", why, 1, true)
      assert.is_nil(why:find("s3cr3t", 1, true))
    end
  end)
end)

describe("what may show a record next to an error", function()
  it("is looked for in every place, and a text that is no id is enough for doubt", function()
    local row = { result = WITHDRAWAL }
    for _, value in ipairs { { id = "1" }, { { id = "1" } }, { data = { id = "w" } },
      { data = { { id = "some-id" } } } } do
      assert.is_true(record.shows(row, value))
    end
    for _, word in ipairs { "null", "NIL", "none", "undefined", "True", "false", "NaN", "error" } do
      assert.is_false(record.shows(row, { id = word }), word)
    end
    for _, value in ipairs { {}, { id = "" }, { id = "null" }, { id = "0" }, { data = {} }, { data = { {} } },
      { data = { id = "false" } }, { note = "1" } } do
      assert.is_false(record.shows(row, value))
    end
  end)
end)
