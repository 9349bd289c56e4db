-- SPDX-License-Identifier: MIT
-- The one kind of error: its text has one form, and nothing that is quoted in it breaks out of its line.

local errors = require "purser.client.call.errors"

local function err_of(fields)
  local all = { kind = "api", outcome = "rejected", message = "no funds" }
  for name, value in pairs(fields or {}) do all[name] = value end
  return errors.new(all)
end

describe("an error", function()
  it("is of one of these kinds and outcomes, and of no other", function()
    for _, kind in ipairs { "argument", "config", "transport", "http", "api", "decode", "throttled", "closed",
      "workflow" } do
      assert.equal(kind, err_of({ kind = kind }).kind)
    end
    for _, outcome in ipairs { "not_sent", "rejected", "unknown" } do
      assert.equal(outcome, err_of({ outcome = outcome }).outcome)
    end
    for _, fields in ipairs { { kind = "other" }, { outcome = "done" }, { message = 5 } } do
      assert.is_false((pcall(err_of, fields)))
    end
  end)

  it("says where, of what, what is wrong, what to do and the facts", function()
    local err = err_of { where = "a.lua:3", operation = "wallet.withdraw", hint = "add funds", code = "10101",
      http_status = 400, offset = 7, retry_after = 5, advice = "reconcile it" }
    assert.equal("a.lua:3: wallet.withdraw: no funds; add funds; reconcile it "
      .. "[code 10101, HTTP 400, at byte 7, retry after 5 s, outcome rejected]", tostring(err))
    assert.equal("no funds [outcome rejected]", tostring(err_of()))
    assert.equal("No funds; add some [outcome rejected]", tostring(err_of { message = "No funds.", hint = "add some" }))
    assert.equal("No funds. [outcome rejected]", tostring(err_of { message = "No funds." }))
  end)

  it("has another hint, or none, in the words of who shows it", function()
    local err = err_of { hint = "give it", advice = "reconcile it" }
    assert.equal("no funds; use --x [outcome rejected]", errors.text(err, "use --x"))
    assert.equal("no funds [outcome rejected]", errors.text(err, false))
  end)

  it("is one line, whatever is quoted in it", function()
    local text = tostring(err_of { message = "a\r\nforged: all is well\27[2J\226\128\174", code = "\0" })
    assert.is_nil(text:find "[%c]")
    assert.is_nil(text:find("\226\128\174", 1, true))
  end)

  it("is not retryable unless that is said, and is known as an error of this package", function()
    assert.is_false(err_of().retryable)
    assert.is_true(err_of { retryable = true }.retryable)
    assert.is_true(errors.is(err_of()))
    for _, value in ipairs { {}, "x", 5, setmetatable({}, {}), print } do assert.is_false(errors.is(value)) end
    assert.equal("purser.error", getmetatable(err_of()))
    assert.is_false(pcall(setmetatable, err_of(), {}))
  end)

  it("of a walk is raised as it is, and its values are passed on", function()
    local values, failure = { "one" }, err_of()
    local walk = { next = function()
      local value = table.remove(values, 1)
      return value, not value and failure or nil
    end }
    assert.equal("one", errors.iterate(walk))
    local ok, raised = pcall(errors.iterate, walk)
    assert.is_false(ok)
    assert.equal(failure, raised)
    assert.is_nil((errors.iterate { next = function() end }))
  end)

  it("cannot be made without a known kind, a known outcome and a message", function()
    for _, fields in ipairs { { kind = "odd" }, { outcome = "maybe" }, { outcome = "done" }, { message = 5 } } do
      assert.is_false(pcall(err_of, fields))
    end
  end)
end)

describe("the error of bad input", function()
  it("was not sent, and names the line of the caller", function()
    local line = debug.getinfo(1, "l").currentline + 1
    local err = errors.argument("coin", "is wrong", "give another")
    assert.same({ "argument", "not_sent", "check", "coin", "give another" },
      { err.kind, err.outcome, err.phase, err.parameter, err.hint })
    assert.equal("spec/client/call/errors_spec.lua:" .. line, err.where)
    assert.matches("^spec/client/call/errors_spec.lua:%d+$", errors.config("no", nil, "x").where)
  end)

  it("of a parameter names the operation; of all parameters none", function()
    local err = errors.parameter({ full_name = "wallet.withdraw" }, "coin", "is required")
    assert.same({ "wallet.withdraw", "coin", 'parameter "coin" is required' },
      { err.operation, err.parameter, err.message })
    err = errors.parameter({ full_name = "wallet.withdraw" }, nil, "the parameters are a text")
    assert.same({ "the parameters are a text" }, { err.message, err.parameter })
  end)

  it("of an option is none where nothing is wrong", function()
    assert.is_nil(errors.option(nil))
    local err = errors.option("is wrong", "timeout_ms", "give less")
    assert.same({ "argument", "timeout_ms", "give less" }, { err.kind, err.option, err.hint })
    err = errors.config("is wrong", "give less", "retry")
    assert.same({ "config", "not_sent", "retry" }, { err.kind, err.outcome, err.option })
  end)
end)
