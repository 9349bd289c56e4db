-- SPDX-License-Identifier: MIT
-- The options of one call, and the credentials that sign it: what is wrong is said, and no value is quoted.

local call_options = require "purser.client.call.call_options"
local files = require "files"
local profiles = require "purser.client.operations.profiles"
local secrets = require "purser.client.util.secrets"

describe("the options of a call", function()
  it("pass up to their bounds", function()
    for _, options in ipairs { {}, { recv_window = 1 }, { recv_window = 60000 }, { timeout_ms = 3600000 },
      { timeout_ms = 5e3 }, { info = {}, extra_params = {} } } do
      assert.is_nil(call_options.check(options, profiles.default))
    end
  end)

  it("are rejected beyond them, with an error that names the option and what to give", function()
    for _, case in ipairs {
      { { recv_window = 60001 }, "recv_window", "60000" }, { { recv_window = 0 }, "recv_window" },
      { { recv_window = 1 / 0 }, "recv_window" }, { { recv_window = 0 / 0 }, "recv_window" },
      { { recv_window = 1.5 }, "recv_window" }, { { recv_window = "5000" }, "recv_window" },
      { { timeout_ms = 0 }, "timeout_ms" }, { { timeout_ms = 3600001 }, "timeout_ms" },
      { { timeout = 5 }, "timeout", "timeout_ms" }, { { info = 5 }, "info" },
      { { extra_params = "x" }, "extra_params" },
    } do
      local err = call_options.check(case[1], profiles.default)
      assert.same({ "argument", "not_sent", case[2] }, { err.kind, err.outcome, err.option })
      assert.matches(case[3] or case[2], tostring(err), 1, true)
    end
    assert.equal("argument", call_options.check(5, profiles.default).kind)
  end)

  it("have the window of the profile as their bound", function()
    assert.is_nil(call_options.check_window({ recv_window = 1000 }, { max_recv_window = 1000 }))
    assert.matches("1000", (select(3, call_options.check_window({ recv_window = 1001 }, { max_recv_window = 1000 }))))
    assert.is_nil(call_options.check_window({}, { max_recv_window = 1000 }))
  end)
end)

describe("credentials", function()
  local KEY, SECRET = "mx0vglKEY", "s3cr3t-of-someone"

  local function secret_of(text)
    local path = files.temporary(text)
    local secret = assert(secrets.from_file(path))
    os.remove(path)
    return secret
  end

  it("pass as texts and as a secret", function()
    for _, key in ipairs { SECRET, secret_of(SECRET), "with blank",
      ("x"):rep(9000) } do
      assert.is_nil(call_options.check_credentials(KEY, key))
    end
    assert.is_nil(call_options.check_credentials(("k"):rep(4096), SECRET))
  end)

  it("are rejected where they cannot be sent or were pasted wrong, and never quoted", function()
    for _, case in ipairs {
      { nil, SECRET, '"api_key" is missing' }, { 5, SECRET, '"api_key" is missing' },
      { KEY, nil, '"secret_key" is missing' }, { "", SECRET, '"api_key" is empty' },
      { KEY, "", '"secret_key" is empty' },
      { KEY .. "\n", SECRET, '"api_key" holds a line break' }, { KEY .. " ", SECRET, '"api_key" holds a blank' },
      { KEY .. "\127", SECRET, '"api_key" holds a line break' }, { KEY .. "\195\164", SECRET, "a header cannot carry" },
      { ("k"):rep(4097), SECRET, "longer than a header" }, { KEY, SECRET .. "\r\n", '"secret_key" holds a line break' },
      { KEY, { SECRET }, '"secret_key" is neither' }, { KEY, 5, '"secret_key" is neither' },
      { KEY, io.stdout, '"secret_key" is neither' }, { KEY, "x-----BEGIN \n", '"secret_key" holds a line break' },
    } do
      local message, hint = call_options.check_credentials(case[1], case[2])
      assert.matches(case[3], message, 1, true)
      assert.is_string(hint)
      for _, value in ipairs { KEY, SECRET } do assert.is_nil((message .. hint):find(value, 1, true)) end
    end
  end)

  it("are rejected where the secret was closed", function()
    local secret = secret_of(SECRET)
    secret:close()
    assert.equal('"secret_key" is a secret that was closed', (call_options.check_credentials(KEY, secret)))
  end)
end)
