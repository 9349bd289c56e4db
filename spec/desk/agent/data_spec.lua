-- SPDX-License-Identifier: MIT
-- Texts of strangers reach an agent bounded and harmless.

local data = require "purser.desk.agent.data"
local json = require "purser.json"

describe("data of strangers", function()
  it("has no character that changes how a text is shown, in values and names", function()
    local text = json.encode((data.harmless { ["a\27"] = "b\226\128\174", list = {}, n = 1, yes = false }))
    assert.is_nil(text:find "[\27\226]")
    assert.matches('"n":1', text, 1, true)
    assert.matches('"yes":false', text, 1, true)
    assert.matches('"list":[]', text, 1, true)
  end)

  it("is cut where there is too much of it, and says so", function()
    local many = {}
    for i = 1, 30000 do many[i] = i end
    local copy, is_cut = data.harmless(many)
    assert.is_true(is_cut and #copy < 20001)
    assert.is_nil((select(2, data.harmless { 1, 2 })))
    for count, is_whole in pairs { [19999] = true, [20000] = false } do -- the list is a value, too
      for i = count + 1, #many do many[i] = nil end
      for i = 1, count do many[i] = i end
      copy, is_cut = data.harmless(many)
      assert.same({ 19999, not is_whole }, { #copy, is_cut or false })
    end
    assert.is_true(#data.text(("x"):rep(10000)) <= 410)
  end)
end)
