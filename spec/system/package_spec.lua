-- SPDX-License-Identifier: MIT
-- The packages must hold every file.
-- make test-all: 8 s, on lua5.4 and lua5.1

local files = require "files"

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
local rocks = dofile "lua/purser/client/util/rocks.lua"
local specs = {}
for i, name in ipairs(rocks.names) do specs[i] = load_rockspec(name .. "-scm-1.rockspec") end
local simulator = load_rockspec "purser-sim-scm-1.rockspec"

describe("make install", function()
  local folder
  local clone = lines_of("pwd")[1]
  local bare = "cd / && env -u LUA_PATH -u LUA_CPATH "

  local function quote(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

  -- Returns what a target says, and whether it succeeded. `before` is a shell command in front of it.
  local function make(target, prefix, before)
    -- without the sanitizers' runtimes, which have no business in make
    local command = ("%s env -u LD_PRELOAD ${MAKE:-make} -s --no-print-directory %s PREFIX=%s 2>&1; echo status $?")
      :format(before or "", target, quote(prefix))
    local said = table.concat(lines_of(command), "\n")
    return said, said:find("status 0", 1, true) ~= nil
  end

  before_each(function() folder = files.folder() end)
  after_each(function() files.remove(folder) end)

  -- A PREFIX that Lua does not look into left the command without its modules.
  it("makes a command that finds its modules wherever it is, and says what scripts need; uninstall takes all away",
    function()
      local prefix = folder .. "/My App's $HOME"
      local said = make("install", (prefix:gsub("%$", "$$")))
      local program = quote(prefix .. "/bin/purser")
      assert.same({ "purser " .. require "purser.version" }, lines_of(bare .. program .. " --version 2>&1"))
      local path = assert(said:match "export (LUA_PATH[^\n]+)", said)
      local script = 'print(require("purser").new {})'
      assert.matches("base_url", lines_of(bare .. path .. " ${LUA:-lua5.4} -e '" .. script .. "' 2>&1")[1])
      make("uninstall", (prefix:gsub("%$", "$$")))
      assert.same({ folder, prefix }, lines_of(("find %s"):format(folder)))
    end)

  it("puts all below DESTDIR, where uninstall finds it again, and leaves a folder that is another's", function()
    local prefix, staged = folder .. "/My App", folder .. "/a stage"
    local destination = "export DESTDIR=" .. quote(staged) .. ";"
    make("install", prefix, destination)
    assert.same({ staged }, lines_of(("find %s -mindepth 1 -maxdepth 1"):format(folder)))
    assert.same({ "purser" }, lines_of(("ls %s"):format(quote(staged .. prefix .. "/bin"))))
    assert(os.execute(("mkdir %s"):format(quote(staged .. prefix .. "/share/lua/other"))))
    make("uninstall", prefix, destination)
    assert.same({ "share", "share/lua", "share/lua/other" },
      lines_of(("cd %s && find * "):format(quote(staged .. prefix))))
  end)

  it("brings man pages, completion, docs and examples, and uninstall takes just these away", function()
    local prefix = folder .. "/My Apps"
    local others = { "/share/man/man1/other.1", "/share/doc/other/README.md",
      "/share/bash-completion/completions/other", "/share/zsh/site-functions/_other",
      "/share/fish/vendor_completions.d/other.fish" }
    for i, name in ipairs(others) do
      others[i] = prefix .. name
      assert(os.execute(("mkdir -p \"$(dirname %s)\" && touch %s"):format(quote(others[i]), quote(others[i]))))
    end
    make("install", prefix)
    local function first_line(name) return lines_of(("head -n 1 %s 2>&1"):format(quote(prefix .. name)))[1] end
    assert.equal("#compdef purser", first_line "/share/zsh/site-functions/_purser")
    assert.matches("bash completion of purser", first_line "/share/bash-completion/completions/purser")
    assert.matches("^function", first_line "/share/fish/vendor_completions.d/purser.fish")
    local pages = table.concat(lines_of(("ls %s"):format(quote(prefix .. "/share/man/man1"))), "\n")
    for _, page in ipairs { "purser.1", "purser-wallet-withdraw.1", "purser-payouts.1" } do
      assert.is_truthy(pages:find(page, 1, true), pages)
    end
    local listed = "cd %s && find docs examples -type f"
    assert.same(lines_of(listed:format(quote(clone))), lines_of(listed:format(quote(prefix .. "/share/doc/purser"))))
    make("uninstall", prefix)
    assert.same(sorted(others), lines_of(("find %s -type f"):format(quote(folder))))
  end)

  it("says how a shell finds the command, unless it does", function()
    local prefix = folder .. "/My App's"
    local path = assert(make("install", prefix):match "export (PATH=[^\n]+)")
    assert.same({ "purser " .. require "purser.version" }, lines_of(path .. " sh -c 'purser --version' 2>&1"))
    assert.is_nil(make("install", prefix, path):find("export PATH", 1, true))
  end)

  it("names variables that leave the paths of other versions of Lua alone", function()
    local version = _VERSION:match "%d%.%d"
    local said = make("install", folder .. "/there")
    local suffix = version == "5.1" and "" or "_" .. version:gsub("%.", "_")
    assert.matches("export LUA_PATH" .. suffix .. "='", said, 1, true)
    assert.matches("' LUA_CPATH" .. suffix .. "='", said, 1, true)
  end)

  -- The folder was written without quotes, so `My Apps` was two words.
  it("touches no folder whose name is the first word of PREFIX", function()
    local other = folder .. "/My/share/lua/purser"
    assert(os.execute(("mkdir -p %s && touch %s/mine %s/My/mine"):format(other, other, folder)))
    make("install", folder .. "/My Apps")
    make("uninstall", folder .. "/My Apps")
    assert.same({ folder .. "/My/mine", other .. "/mine" }, lines_of(("find %s -name mine"):format(folder)))
  end)

  it("gives every user what it installs, whatever the umask is, and no module of an older version stays", function()
    local old = ("%s/share/lua/%s/purser/old.lua"):format(folder, _VERSION:match "%d%.%d")
    assert(os.execute(("mkdir -p $(dirname %s) && touch %s"):format(old, old)))
    make("install", folder, "umask 077;")
    assert.same({}, lines_of(("find %s ! -perm -o=r"):format(folder .. "/*")))
    assert.same({}, lines_of(("find %s -type d ! -perm -o=x"):format(folder .. "/*")))
    assert.same({}, lines_of("ls " .. old .. " 2>/dev/null"))
  end)

  it("takes a relative PREFIX from the clone, and prints it absolute", function()
    local prefix = "build/" .. folder:match "[^/]+$"
    local said = make("install", "./" .. prefix)
    local version = lines_of(("%s %s/%s/bin/purser --version"):format(bare, clone, prefix))
    os.execute("rm -r " .. prefix)
    assert.matches("='" .. clone .. "/" .. prefix .. "/share", said, 1, true)
    assert.same({ "purser " .. require "purser.version" }, version)
  end)

  it("makes a command that a link reaches from anywhere, with no clone and no shell", function()
    make("install", folder .. "/opt")
    assert(os.execute(("mkdir %s/bin && ln -s ../opt/bin/purser %s/bin/purser"):format(folder, folder)))
    local said = lines_of(("%s %s/bin/purser operations wallet.withdraw 2>&1"):format(bare, folder))
    assert.matches("wallet.withdraw", table.concat(said, "\n"), 1, true)
    local trace = lines_of(("%s PATH= $(command -v ${LUA:-lua5.4}) %s/bin/purser --version 2>&1"):format(bare, folder))
    assert.same({ "purser " .. require "purser.version" }, trace)
  end)

  it("rejects an empty PREFIX, and one that Lua's paths cannot hold", function()
    for _, prefix in ipairs { "", folder .. "/a;b", folder .. "/a?b" } do
      for _, target in ipairs { "install", "uninstall" } do
        local said, ok = make(target, prefix)
        assert.is_false(ok, said)
        assert.matches("PREFIX", said)
      end
    end
    assert.same({}, lines_of(("find %s -type f"):format(folder)))
  end)
end)

describe("make", function()
  it("names the Luas that it knows when it is given another", function()
    for _, wrong in ipairs { "5.4", "lua9", "lua" } do
      local said = table.concat(lines_of(("env -u BUILD ${MAKE:-make} -s LUA=%s 2>&1"):format(wrong)), "\n")
      assert.matches("LUA=" .. wrong .. ": .*lua5.1 lua5.2 lua5.3 lua5.4 lua5.5 luajit", said)
    end
  end)

  it("ends with the packages of a missing header, and compiles nothing else before", function()
    local folder = files.folder()
    local said = table.concat(lines_of(("env -u LD_PRELOAD ${MAKE:-make} -s BUILD=%s CC=\"gcc -nostdinc\" 2>&1"):format(
      folder)), "\n")
    files.remove(folder)
    assert.matches("libssl-dev", said, 1, true)
    for file in said:gmatch "(src/[%w_/]+%.c):%d" do assert.matches("check_deps%.c$", file) end
  end)

  it("says which Lua's headers are missing", function()
    local folder = files.folder()
    local said = table.concat(lines_of(
      ("env -u LD_PRELOAD PKG_CONFIG_LIBDIR=/nowhere ${MAKE:-make} -s BUILD=%s LUA=lua5.1 2>&1"):format(folder)), "\n")
    files.remove(folder)
    assert.matches("the headers of lua5.1 are missing. Debian: liblua5.1-0-dev", said, 1, true)
  end)
end)

describe("a C core that does not fit", function()
  local folder = files.folder()
  local lua = os.getenv "LUA" or "lua5.4"

  local function said_with(path)
    return lines_of(("LUA_CPATH='%s' %s -e 'print(select(2, pcall(require, \"purser\")))' 2>&1"):format(path, lua))
  end

  it("is said in one sentence: it is missing, or cannot be loaded, as one that was built for another Lua", function()
    local cure = ("; run `make LUA=%s` in the clone, or correct package.cpath (LUA_CPATH)"):format(lua)
    assert.same({ "purser: the C module purser.core is not on package.cpath" .. cure }, said_with "/nowhere/?.so")
    assert(os.execute(([[unset LD_PRELOAD; mkdir -p %s/purser
      printf 'int lua_none(void); int luaopen_purser_core(void *L);
      int luaopen_purser_core(void *L) { return L ? lua_none() : 0; }' |
      ${CC:-cc} -x c -shared -fPIC -o %s/purser/core.so -]])
      :format(folder, folder)))
    local said = said_with(folder .. "/?.so")
    assert.equal(1, #said)
    assert.matches("^purser: the C module purser.core cannot be loaded by this Lua, .*undefined symbol: lua_none",
      said[1])
    assert.matches(cure, said[1], 1, true)
    assert(os.execute(("unset LD_PRELOAD; mkdir -p %s/.git && cp -R bin lua %s/"):format(folder, folder)))
    local program = lines_of(("BUILD=. %s %s/bin/purser operations 2>&1"):format(lua, folder))
    files.remove(folder)
    assert.equal(1, #program)
    assert.matches("cannot be loaded by this Lua", program[1])
  end)
end)

describe("a built module", function()
  local modules = (os.getenv "BUILD" or "build/lua5.4") .. "/purser/*.so"

  it("has a stack protector, is read-only once it is loaded, and exports the function that Lua opens alone", function()
    local rows = lines_of("LD_PRELOAD= tools/release/checksec " .. modules .. " | grep '[.]so'")
    assert.equal(3, #rows)
    for _, row in ipairs(rows) do assert.matches("%.so +| yes +| %d+ of %d+ +| full +| 1 +|$", row) end
  end)

  it("does not hold the name of the folder that it was built in", function()
    assert.same({}, lines_of(("LD_PRELOAD= grep -l \"$PWD\" %s"):format(modules)))
  end)
end)

describe("a release", function()
  it("is the same bytes twice, with right checksums and a list of all its files", function()
    local folder = files.folder()
    local function make()
      return lines_of(("LD_PRELOAD= DIST=%s/dist tools/release/dist >/dev/null 2>&1 && cd %s/dist && cat SHA256SUMS && "
        .. "sha256sum -c SHA256SUMS 2>&1"):format(folder, folder))
    end
    local first = make()
    assert.same(first, make())
    local name = "purser-" .. require "purser.version"
    assert.matches(name .. ".tar.gz: OK", table.concat(first, "\n"), 1, true)
    assert.matches(name .. ".spdx.json: OK", table.concat(first, "\n"), 1, true)
    local file = assert(io.open(("%s/dist/%s.spdx.json"):format(folder, name)))
    local list = assert(require("purser.core").decode((file:read "*a")))
    file:close()
    files.remove(folder)
    local listed = {}
    for _, part in ipairs(list.files) do listed[#listed + 1] = part.fileName:match "^%./(.*)$" end
    assert.same(lines_of "git ls-tree -r --name-only HEAD", sorted(listed))
    assert.equal("SPDX-2.3", list.spdxVersion)
  end)
end)

describe("the line of the licence", function()
  it("goes after a first line of `#!`, once, and keeps the file's mode", function()
    local folder = files.folder()
    local said = lines_of(([[(exec 2>&1; unset LD_PRELOAD
      mkdir -p %s/tools && cp tools/spdx tools/files %s/tools/ && cd %s && git init -q . &&
      printf '#!/bin/sh\necho a\n' >run && chmod 755 run && printf 'int a;\n' >a.c && printf 'return 1\n' >a.lua &&
      printf 'text\n' >a.md && git add . && tools/spdx add && tools/spdx add && tools/spdx check &&
      head -n 3 run a.c a.lua a.md && ls -l run | cut -c1-10)]]):format(folder, folder, folder))
    files.remove(folder)
    assert.same(sorted { "==> run <==", "#!/bin/sh", "# SPDX-License-Identifier: MIT", "echo a", "", "==> a.c <==",
      "/* SPDX-License-Identifier: MIT */", "int a;", "", "==> a.lua <==", "-- SPDX-License-Identifier: MIT",
      "return 1", "", "==> a.md <==", "text", "-rwxr-xr-x" }, said)
  end)
end)

describe("the rockspecs", function()
  -- Returns the sources of each module that a rock's command compiles, by the name of the module's file.
  local function sources_of(rock)
    local modules = {}
    for file, sources in rock.build.build_command:gmatch "%-o build/rock/(%a+)%.so(.-) %-[lL]" do
      modules[file] = {}
      for path in sources:gmatch "%S+" do table.insert(modules[file], path) end
    end
    return modules
  end

  it("list every C source, the check of what is installed first", function()
    local modules, httpd = sources_of(purser), sources_of(simulator).httpd
    assert.same({ "src/core/check_deps.c", "src/core/check_deps.c", "src/httpd/check_deps.c" },
      { modules.core[1], modules.http[1], httpd[1] })
    local in_one, listed = {}, {}
    for _, sources in pairs(modules) do
      for _, path in ipairs(sources) do in_one[path] = true end
    end
    for path in pairs(in_one) do listed[#listed + 1] = path end
    assert.same(lines_of "ls src/core/*.c src/bind/*.c", sorted(listed))
    assert.same(lines_of "ls src/httpd/*.c", sorted(httpd))
  end)

  it("list every Lua module once, under the name it is required by", function()
    local listed, paths = {}, {}
    for i, rock in ipairs(specs) do
      for name, path in pairs(rock.build.install.lua) do
        if path:find "%.lua$" then
          local required = path:gsub("^lua/", ""):gsub("%.lua$", ""):gsub("/", ".")
          assert.equal(required, name)
          assert.equal(rocks.names[i], rocks.of((name:gsub("%.init$", ""))))
          listed[#listed + 1] = path
        end
      end
    end
    for _, path in ipairs(lines_of "find lua -name '*.lua'") do paths[#paths + 1] = path end
    assert.same(paths, sorted(listed))
  end)

  it("keep LuaDBI, libmicrohttpd and the command out of the main rock", function()
    assert.same({ "lua >= 5.1, < 5.6" }, purser.dependencies)
    assert.is_nil(purser.build.install.bin)
    assert.is_nil(purser.build.build_command:find("microhttpd", 1, true))
    assert.same({ purser = "bin/purser" }, load_rockspec("purser-cli-scm-1.rockspec").build.install.bin)
  end)

  it("make modules that export one function each", function()
    local values = { CC = "${CC:-cc}", CFLAGS = "-O0 -fPIC", LIBFLAG = "-shared",
      LUA_INCDIR = lines_of("pkg-config --cflags-only-I lua5.4")[1]:match "%-I(%S+)" }
    for _, rock in ipairs { purser, simulator } do
      local folder = files.folder()
      local command = rock.build.build_command:gsub("%$%((%u+_?%u*)%)", function(name)
        return values[name] or "/usr/include"
      end):gsub("build/rock", folder)
      assert.same({ "status 0" }, lines_of("{ " .. command .. "; } 2>&1; echo status $?"))
      for name, path in pairs(rock.build.install.lib) do
        local exported = ("nm -D --defined-only '%s' | cut -d' ' -f3"):format((path:gsub("build/rock", folder)))
        assert.same({ ("luaopen_" .. name:gsub("%.", "_")) }, lines_of(exported))
      end
      files.remove(folder)
    end
  end)

  it("agree on everything they share", function()
    for _, rock in ipairs(specs) do
      for _, member in ipairs { "version", "rockspec_format", "source" } do
        assert.same(purser[member], rock[member])
      end
      assert.equal(purser.description.license, rock.description.license)
    end
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
    local output = compile "src/core/check_deps.c" .. compile "src/core/http_check_deps.c"
      .. compile "src/httpd/check_deps.c"
    for _, package in ipairs { "libcurl4-openssl-dev", "libcurl-devel", "curl-dev", "brew install curl", "libssl-dev",
      "openssl-devel", "openssl-dev", "brew install openssl@3", "libmicrohttpd-dev", "libmicrohttpd-devel",
      "brew install libmicrohttpd" } do
      assert(output:find(package, 1, true), package .. " is not named")
    end
  end)
end)
