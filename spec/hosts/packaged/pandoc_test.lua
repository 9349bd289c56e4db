-- SPDX-License-Identifier: MIT
-- The page of Pandoc, which has no loop: its filter waits.
-- make test-all: 10 s, waits

local packaged_host = require "packaged_host"

local DOCUMENT = [[
~~~ deposits
~~~

~~~ withdraw
~~~
]]

local CHECKED = [[
function Pandoc()
  local env = os.getenv
  local report = purser.run(function()
    return require("purser.recording.check").run({ url = env "CHECK", tls = { ca_file = env "CA", good = env "GOOD",
      other_name = env "OTHER_NAME", other_authority = env "OTHER_AUTHORITY" } }, purser.transport.multi)
  end)
  local file = assert(io.open(env "HOST_REPORT", "w"))
  file:write(tostring(report))
  file:close()
end
]]

local host

setup(function() host = packaged_host.start() end)
teardown(function() if host then host:stop() end end)

describe("Pandoc", function()
  it("puts into a document what a filter has read and paid, and its transport passes the check", function()
    local shown, report = host:run("pandoc", { lua = "lua5.3", files = { ["text.md"] = DOCUMENT },
      command = "pandoc -t plain --lua-filter FOLDER/purser.lua FOLDER/text.md",
      appended = { ["purser.lua"] = CHECKED } })
    assert.matches("^20 lists of deposits\n\npaid %w+\n$", shown)
    assert.matches("\n35 passed, 0 failed$", report, 1, nil, report)
  end)
end)
