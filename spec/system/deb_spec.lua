-- SPDX-License-Identifier: MIT
-- `tools/release/deb` where packages to build with are missing: the tool of Debian that says so is made up.

local files = require "files"

describe("make deb", function()
  it("names the cure where packages to build with are missing", function()
    local folder = files.folder()
    finally(function() files.remove(folder) end)
    assert(os.execute((("mkdir -p %s/clone/tools/release %s/clone/lua/purser %s/bin"
      .. " && cp tools/release/deb %s/clone/tools/release/"
      .. " && cp lua/purser/version.lua %s/clone/lua/purser/"):gsub("%%s", folder))))
    files.write(folder .. "/bin/dpkg-buildpackage",
      "#!/bin/sh\necho 'dpkg-checkbuilddeps: error: Unmet build dependencies: lua5.2' >&2\nexit 1\n")
    local said = files.output_of((("chmod +x %s/bin/*; cd %s/clone && PATH=%s/bin:$PATH tools/release/deb build 2>&1")
      :gsub("%%s", folder)))
    assert.matches("Unmet build dependencies: lua5.2\n", said, 1, true)
    assert.matches("`tools/setup build package` installs them\n", said, 1, true)
  end)
end)
