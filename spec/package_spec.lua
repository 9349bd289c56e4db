-- The packages must hold every file, and the version must be written once.

local function load_rockspec(path)
  local rockspec = {}
  local file = assert(io.open(path))
  local text = file:read "*a"
  file:close()
  if setfenv then -- luacheck: ignore 113
    setfenv(assert(loadstring(text, path)), rockspec)() -- luacheck: ignore 113
  else
    assert(load(text, path, "t", rockspec))()
  end
  return rockspec
end

local function lines_of(command)
  local lines = {}
  local pipe = assert(io.popen(command .. " | LC_ALL=C sort"))
  for line in pipe:lines() do lines[#lines + 1] = line end
  pipe:close()
  return lines
end

local function sorted(list)
  local copy = {}
  for i, value in ipairs(list) do copy[i] = value end
  table.sort(copy)
  return copy
end

local purser = load_rockspec "purser-scm-1.rockspec"
local front = load_rockspec "purser-sim-http-scm-1.rockspec"

-- What `purser` loads until a first read has its answer, sorted.
local function modules_of_a_first_read()
  local script = [[
    local client = assert(require("purser").new { base_url = "http://127.0.0.1:1", profile = "mexc", api_key = "k",
      secret_key = "s", recv_window = 5000 })
    local state = require("purser.private").states[client]
    state._transport = { send = function() return { status = 200, body = "[]", headers = "" } end }
    assert(client.wallet:deposit_history { coin = "USDT" })
    for name in pairs(package.loaded) do if name:find "^purser" then print(name) end end
  ]]
  local names = {}
  for _, name in ipairs(lines_of(("%s -e '%s'"):format(os.getenv "LUA" or "lua5.4", script))) do
    local own = name:match "^purser%.(.+)"
    if own and own ~= "core" and own ~= "http" then names[#names + 1] = own end
  end
  return sorted(names)
end

describe("precompiled modules", function()
  it("of a first read are one file", function()
    local precompile = dofile "tools/precompile.lua"
    assert.same(modules_of_a_first_read(), sorted(precompile.first_read))
  end)

  it("do what the source does, and name its lines", function()
    local lua = os.getenv "LUA" or "lua5.4"
    local folder = os.tmpname()
    os.remove(folder)
    local script = [[
      local world = assert(require("purser.sim").new { seed = 1 })
      local account = world:account { name = "A", role = "main", balances = { USDT = "5" } }
      local client = assert(require("purser").new { base_url = "http://127.0.0.1:1", transport = world:transport(),
        clock = function() return world:now() end, api_key = account.api_key, secret_key = account.secret_key })
      print(#assert(client.wallet:coins()) > 0, client.wallet:transfer { asset = 1.5 })
      print(pcall(require("purser.budget").new, { weight = "x" }))
      print(pcall(require("purser.transport.curl").new, 1))
    ]]
    local function run(path)
      local command = ("LUA_PATH='%s/?.lua;%s/?/init.lua;;' %s -e '%s' 2>&1"):format(path, path, lua, script)
      return table.concat(lines_of(command), "\n")
    end
    assert(os.execute(("mkdir %s && cp -R lua/purser %s/"):format(folder, folder)))
    assert(os.execute(("%s tools/precompile.lua %s/purser ./lua/purser"):format(lua, folder)))
    local file = assert(io.open(folder .. "/purser/check.lua", "rb"))
    local first = file:read(1)
    file:close()
    local precompiled, source = run(folder), run "./lua"
    os.execute("rm -r " .. folder)
    assert.equal("\27", first)
    assert.equal(source, precompiled)
    assert.matches("true.*asset", precompiled)
  end)
end)

describe("make install", function()
  local prefix = os.tmpname()
  os.remove(prefix)

  local function make(target)
    -- without the sanitizers' runtimes, which have no business in make
    local command = ("env -u LD_PRELOAD ${MAKE:-make} -s --no-print-directory %s PREFIX=%s 2>&1"):format(target, prefix)
    return table.concat(lines_of(command), "\n")
  end

  -- A PREFIX that Lua does not look into left the command without its modules.
  it("makes a command that finds its modules wherever it is, and says what scripts need; uninstall takes all away",
    function()
      local said = make "install"
      local bare = "cd / && env -u LUA_PATH -u LUA_CPATH "
      assert.same({ "purser " .. require "purser.version" }, lines_of(bare .. prefix .. "/bin/purser --version 2>&1"))
      local path = assert(said:match "export (LUA_PATH=[^\n]+)", said)
      local script = 'print(require("purser").new {})'
      assert.matches("base_url", lines_of(bare .. path .. " ${LUA:-lua5.4} -e '" .. script .. "' 2>&1")[1])
      make "uninstall"
      assert.same({}, lines_of("find " .. prefix .. " -type f"))
      os.execute("rm -r " .. prefix)
    end)
end)

describe("the rockspecs", function()
  it("list every C source, the check of what is installed first", function()
    local core = purser.build.modules["purser.core"].sources
    local http = purser.build.modules["purser.http"].sources
    local httpd = front.build.modules["purser.httpd"].sources
    assert.same({ "src/core/needs.c", "src/core/needs.c", "src/httpd/needs.c" }, { core[1], http[1], httpd[1] })
    local in_one, listed = {}, {}
    for _, sources in ipairs { core, http } do
      for _, path in ipairs(sources) do in_one[path] = true end
    end
    for path in pairs(in_one) do listed[#listed + 1] = path end
    assert.same(lines_of "ls src/core/*.c src/bind/*.c", sorted(listed))
    assert.same(lines_of "ls src/httpd/*.c", sorted(httpd))
  end)

  it("list every Lua module under the name it is required by", function()
    local listed, paths = {}, {}
    for name, path in pairs(purser.build.modules) do
      if type(path) == "string" then
        local required = path:gsub("^lua/", ""):gsub("%.lua$", ""):gsub("/init$", ""):gsub("/", ".")
        assert.equal(required, name)
        listed[#listed + 1] = path
      end
    end
    for _, path in ipairs(lines_of "find lua -name '*.lua'") do paths[#paths + 1] = path end
    assert.same(paths, sorted(listed))
  end)

  it("install the command, and keep libmicrohttpd out of the main rock", function()
    assert.same({ purser = "bin/purser" }, purser.build.install.bin)
    assert.is_nil(purser.build.modules["purser.httpd"])
    for _, library in ipairs(purser.build.modules["purser.core"].libraries) do
      assert.not_equal("microhttpd", library)
    end
  end)

  it("agree on everything they share", function()
    for _, member in ipairs { "version", "rockspec_format", "source" } do
      assert.same(purser[member], front[member])
    end
    assert.equal(purser.description.license, front.description.license)
  end)
end)

describe("a missing header", function()
  -- -nostdinc hides every header, as on a machine where nothing is installed.
  local function compile(source)
    local pipe = assert(io.popen("${CC:-cc} -nostdinc -Isrc/core -fsyntax-only " .. source .. " 2>&1"))
    local output = pipe:read "*a"
    pipe:close()
    return output
  end

  it("ends the build with the names of its package", function()
    local output = compile "src/core/needs.c" .. compile "src/httpd/needs.c"
    for _, package in ipairs { "libcurl4-openssl-dev", "libcurl-devel", "curl-dev", "brew install curl", "libssl-dev",
      "openssl-devel", "openssl-dev", "brew install openssl@3", "libmicrohttpd-dev", "libmicrohttpd-devel",
      "brew install libmicrohttpd" } do
      assert(output:find(package, 1, true), package .. " is not named")
    end
  end)
end)

describe("the version", function()
  local version = require "purser.version"

  it("is what the module says", function()
    assert.matches("^%d+%.%d+%.%d+$", version)
    assert.equal(version, require("purser")._VERSION)
  end)

  it("is that of the rockspecs, unless they follow the repository", function()
    if purser.version ~= "scm-1" then assert.equal(version, (purser.version:gsub("%-%d+$", ""))) end
  end)

  it("is at the top of the changelog: released, or still to be", function()
    local file = assert(io.open "CHANGELOG.md")
    local text = file:read "*a"
    file:close()
    local headings = {}
    for heading in text:gmatch "\n## %[([^%]]+)%]" do headings[#headings + 1] = heading end
    if headings[1] == "Unreleased" then
      assert.not_equal(version, headings[2], version .. " is released; the next version needs another number")
    else
      assert.equal(version, headings[1])
    end
  end)

  it("is written in no other file", function()
    local found = lines_of(("git grep -lF '%s' -- lua src bin '*.rockspec' Makefile tools examples"):format(version))
    assert.same({ "lua/purser/version.lua" }, found)
  end)
end)
