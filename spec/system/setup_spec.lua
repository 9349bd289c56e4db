-- SPDX-License-Identifier: MIT
-- `tools/setup`, on a machine whose commands are made up: what it asks for as root, and what it leaves alone.

local files = require "files"

local folder

local commands = {
  id = "echo 1000",
  ["dpkg-query"] = [[eval package=\${$#}
case " $HAVE " in *" $package "*) echo "install ok installed";; *) exit 1;; esac]],
  ["apt-get"] = "exit 1", -- it must only ever run by sudo
  sudo = [[echo "$@" >>"$SUDO_LOG"
case "$*" in
  *apt-get*) [ -z "$NO_APT" ];;
  update-rc.d*) [ -z "$NO_SERVICE" ];;
esac]],
}

-- Returns what set-up said, its exit code, and what it asked root for, a command a line.
local function set_up(environment, needs)
  local log = folder .. "/log"
  files.write(log, "")
  -- without the sanitizers that `make asan` loads into every program: they look for leaks in the shell
  local pipe = assert(io.popen(("LD_PRELOAD= PATH=%s:$PATH SUDO_LOG=%s %s tools/setup %s 2>&1; echo exit $?"):format(
    folder, log, environment, needs)))
  local text = pipe:read "*a"
  pipe:close()
  return text, tonumber(text:match "exit (%d+)\n$"), files.read(log)
end

-- Everything that the needs name, but for what `without` matches.
local function packages(needs, without)
  local list = {}
  for line in io.lines "tools/packages.txt" do
    local need, package = line:match "^(%w+)%s+(%S+)"
    if need and (" " .. needs .. " "):find(" " .. need .. " ", 1, true) and package ~= without then
      list[#list + 1] = package
    end
  end
  return table.concat(list, " ")
end

describe("tools/setup", function()
  it("asks for the packages while no package may start a service", function()
    local _, _, asked = set_up("HAVE=", "build")
    assert.matches("\ntools/without%-services /usr/sbin/policy%-rc%.d env %S+ apt%-get install ", asked)
    assert.is_nil(asked:find("tee", 1, true))
  end)

  setup(function()
    folder = files.folder()
    for name, body in pairs(commands) do
      files.write(folder .. "/" .. name, "#!/bin/sh\n" .. body .. "\n")
      assert(os.execute(("chmod 755 %s/%s"):format(folder, name)))
    end
  end)

  teardown(function() files.remove(folder) end)

  it("does nothing where all is there", function()
    local text, code, asked = set_up(("HAVE='%s'"):format(packages "build test hosts"), "build test hosts")
    assert.same({ "exit 0\n", 0, "" }, { text, code, asked })
  end)

  for need, service in pairs { hosts = "nginx", torture = "postgresql" } do
    local package = service == "nginx" and "nginx" or "postgresql-15"
    local rest = packages(need, package)

    it("keeps a server that it installs from starting with the machine: " .. service, function()
      local text, code, asked = set_up(("HAVE='%s'"):format(rest), need)
      assert.equal(0, code, text)
      assert.matches("install .* " .. package:gsub("%p", "%%%0") .. "\n", asked)
      assert.matches("\nupdate%-rc%.d " .. service .. " disable\n", asked)
      assert.matches("switched off", text)
    end)

    it("leaves a server alone that was there before: " .. service, function()
      local _, code, asked = set_up(("HAVE='%s %s-common'"):format(rest, service), need)
      assert.equal(0, code)
      assert.matches("apt%-get install", asked)
      assert.is_nil(asked:find("update-rc.d", 1, true))
    end)
  end

  it("says so when the server cannot be switched off, and when nothing could be installed", function()
    local rest = packages("hosts", "nginx")
    local text, code = set_up(("HAVE='%s' NO_SERVICE=1"):format(rest), "hosts")
    assert.equal(0, code)
    assert.matches("nginx came with it and starts with the machine", text)
    local asked
    text, code, asked = set_up(("HAVE='%s' NO_APT=1"):format(rest), "hosts")
    assert.equal(1, code)
    assert.matches("could not install: nginx", text)
    assert.is_nil(asked:find("update-rc.d", 1, true))
  end)
end)

describe("tools/without-services", function()
  local place, policy
  local MARK = "# Written by Purser's tools/without-services."

  before_each(function()
    place = files.folder()
    policy = place .. "/policy-rc.d"
  end)

  after_each(function() files.remove(place) end)

  -- Returns what a shell script says in which `without` runs a command under the policy.
  local function run(script)
    local pipe = assert(io.popen(("LD_PRELOAD= POLICY=%s PLACE=%s sh -c '%s' 2>&1"):format(policy, place,
      (([[without() { tools/without-services "$POLICY" "$@"; }
      ]] .. script):gsub("'", "'\\''")))))
    local text = pipe:read "*a"
    pipe:close()
    return text
  end

  it("has the policy say no while the command runs, and leaves no file", function()
    assert.equal("101\nended 3\n", run [[without sh -c '"$POLICY"; echo $?; exit 3'; echo ended $?; ls "$PLACE"]])
  end)

  it("leaves a policy of another author alone", function()
    files.write(policy, "#!/bin/sh\nexit 104\n")
    assert.equal("104\n#!/bin/sh\nexit 104\n",
      run [[chmod 755 "$POLICY"; without sh -c '"$POLICY"; echo $?'; cat "$POLICY"]])
  end)

  -- A set-up that was killed left a policy that kept packages from starting their services for good.
  it("leaves no policy when set-up and the command are killed, and keeps it while the command lives", function()
    assert.equal("101\ngone\n", run [[mkfifo "$PLACE/go"
      setsid tools/without-services "$POLICY" sh -c 'echo $$ >"$PLACE/pid"; read line <"$PLACE/go"' &
      until [ -s "$PLACE/pid" ]; do sleep 0.01; done
      kill -KILL $!
      wait $! 2>/dev/null
      "$POLICY"; echo $?
      kill -KILL "$(cat "$PLACE/pid")"
      while [ -e "$POLICY" ]; do sleep 0.01; done
      echo gone]])
  end)

  it("writes a policy that says yes and removes itself when all that wrote it is gone", function()
    assert.equal("0\n", run [[without cp "$POLICY" "$PLACE/left"
      "$PLACE/left"; echo $?; ls "$PLACE"]])
  end)

  it("takes the place of a file that an earlier set-up left", function()
    files.write(policy, "#!/bin/sh\n" .. MARK .. "\nexit 101\n")
    assert.equal("101\n", run [[without sh -c '"$POLICY"; echo $?'; ls "$PLACE"]])
  end)

  it("waits for another set-up that is at work", function()
    assert.equal("first\nsecond\n101\n", run [[without sh -c 'touch "$PLACE/begun"; sleep 0.2; echo first' &
      until [ -e "$PLACE/begun" ]; do sleep 0.01; done
      without sh -c 'echo second; "$POLICY"; echo $?'
      wait; rm "$PLACE/begun"; ls "$PLACE"]])
  end)
end)
