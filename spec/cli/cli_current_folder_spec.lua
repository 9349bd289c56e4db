-- SPDX-License-Identifier: MIT
-- The command runs no code of the folder that it is called in, whatever lies there under the names of its modules.
-- make test-all: 25 s, waits, on lua5.4 and luajit

local command = require "command"
local core = require "purser.core"
local files = require "files"

local quote = command.quote
local lua = os.getenv "LUA" or "lua5.4"
local folder, hostile, clone

local function output_of(shell)
  local pipe = assert(io.popen(shell .. " 2>&1; echo exit $?"))
  local text = pipe:read "*a"
  pipe:close()
  return text:match "^(.*)exit (%d+)\n$"
end

-- A Lua file that leaves its name in a list, under every name by which Lua could look for the module.
local function plant(name)
  local path = hostile .. "/" .. name:gsub("%.", "/")
  assert(os.execute(("mkdir -p %s"):format(quote(path))))
  local code = ("local list = io.open(%q, 'a') list:write(%q, '\\n') list:close() return {}"):format(
    folder .. "/ran", name)
  files.write(path .. ".lua", code)
  files.write(path .. "/init.lua", code)
  files.write(path .. ".so", "not a library")
end

local function modules_of_purser()
  local names, pipe = {}, assert(io.popen "find lua -name '*.lua'")
  for path in pipe:lines() do
    names[#names + 1] = path:gsub("^lua/", ""):gsub("%.lua$", ""):gsub("/init$", ""):gsub("/", ".")
  end
  pipe:close()
  return names
end

-- Runs the command in the hostile folder: its words, and which files of that folder ran.
local function run_there(program, environment, arguments)
  os.remove(folder .. "/ran")
  local bare = "env -u LUA_PATH -u LUA_CPATH -u LUA_PATH_5_4 -u LUA_CPATH_5_4"
  local text, code = output_of(("cd %s && %s %s %s %s </dev/null"):format(quote(hostile), bare, environment, program,
    arguments))
  local ran = io.open(folder .. "/ran")
  local list = ran and ran:read "*a" or ""
  if ran then ran:close() end
  return list, text, tonumber(code)
end

local KEYS = "PURSER_API_KEY=mx0k PURSER_SECRET_KEY=s PURSER_BASE_URL=http://127.0.0.1:1 "

-- Every command, with what it needs to come as far as it can without a service.
local commands = {
  "--version", "--help", "wallet --help", "operations", "operations wallet.withdraw", "completion bash",
    "completion zsh",
  "completion fish", "wallet deposit_history --dry-run", "wallet coins", "broker list_sub_accounts",
  "sub-account list_sub_accounts", "wallet withdraw --coin USDT --amount 1 --address T", "doctor",
  "sim --port 0 --idle-timeout 1s",
  "sim --port 0 --idle-timeout 1s --demo --state state", "export wallet.deposit_history --since 1d", "reconcile --help",
  "reconcile missing", "wait withdrawal --help", "fleet plan missing",
  "wallet withdraw --plan --coin USDT --amount 1 --address T",
  "no-such-command",
}

setup(function()
  folder = os.tmpname()
  os.remove(folder)
  hostile = folder .. "/a folder"
  assert(os.execute("mkdir -p " .. quote(hostile .. "/bin")))
  for _, name in ipairs(modules_of_purser()) do plant(name) end
  for _, name in ipairs { "purser.core", "purser.http", "purser.httpd", "DBI", "dbd", "dbd.sqlite3",
    "cjson",
    "socket", "luarocks.loader", "ssl" } do plant(name) end
  clone = assert(io.popen("pwd"):read "*l")
  assert(os.execute(("ln -s %s %s"):format(quote(clone .. "/bin/purser"), quote(folder .. "/link"))))
  assert(os.execute(("ln -s ../../link %s"):format(quote(hostile .. "/bin/purser"))))
end)

teardown(function() os.execute("rm -rf " .. quote(folder)) end)

describe("the command in a folder that holds files with the names of its modules", function()
  local programs = {
    { "by its path", function() return quote(clone .. "/bin/purser") end },
    { "by a link", function() return quote(folder .. "/link") end },
    { "by a relative link to a link", function() return "bin/purser" end },
  }
  local environments = {
    { "without LUA_PATH", "" },
    { "with a relative LUA_PATH", "LUA_PATH='./?.lua;?/init.lua;;' LUA_CPATH='./?.so;;' " },
  }
  for _, program in ipairs(programs) do
    for _, environment in ipairs(environments) do
      it("runs none of them: " .. program[1] .. ", " .. environment[1], function()
        for _, arguments in ipairs(commands) do
          local ran, text, code = run_there(lua .. " " .. program[2](), KEYS .. environment[2], arguments)
          assert.equal("", ran, arguments)
          assert.is_nil(text:find("not a library", 1, true) or text:find("invalid ELF", 1, true), arguments .. text)
          assert.is_nil(text:find("module '", 1, true), arguments .. text)
          assert.is_true(code < 10, arguments .. text)
        end
        local _, version = run_there(lua .. " " .. program[2](), environment[2], "--version")
        assert.equal("purser " .. require "purser.version" .. "\n", version)
      end)
    end
  end

  it("runs none of them when a shell reads the completion script there", function()
    local line = ("bash --norc -ic 'source <(%s %s completion bash); complete -p purser'"):format(lua,
      folder .. "/link")
    local ran, text = run_there(line, "PATH=$PATH", "")
    assert.equal("", ran)
    assert.matches("complete .*purser", text)
  end)

  it("runs no credentials_command of it, where the home of the environment is a relative path", function()
    for _, path in ipairs { "/.config/purser", "/purser" } do
      assert(os.execute("mkdir -p " .. quote(hostile .. path)))
      assert(core.write_new(hostile .. path .. "/default.keys",
        ("credentials_command = echo default.keys >> '%s'\n"):format(folder .. "/ran")))
    end
    for _, environment in ipairs { "HOME=. ", "HOME=/none XDG_CONFIG_HOME=. ",
      "HOME=/none XDG_CONFIG_HOME=.config " } do
      local ran, text = run_there(lua .. " " .. quote(folder .. "/link"), "-u PURSER_CREDENTIALS " .. environment,
        "wallet deposit_history --dry-run --base-url http://127.0.0.1:1")
      assert.equal("", ran, environment)
      assert.matches("no keys: name a file", text, 1, true)
    end
    local own = "HOME=" .. quote(hostile) .. " "
    assert.equal("default.keys\n", (run_there(lua .. " " .. quote(folder .. "/link"), own,
      "wallet deposit_history --dry-run --base-url http://127.0.0.1:1")))
  end)

  it("still takes modules from an absolute LUA_PATH", function()
    local show = "print(package.path, package.cpath) return 0"
    local program = ("%s -e 'arg = { [0] = \"%s\" } package.preload[\"purser.cli\"] = function() "
      .. "return { run = function() %s end } end dofile(arg[0])'"):format(lua, clone .. "/bin/purser", show)
    local paths_given = "LUA_PATH='/there/?.lua;./?.lua;here/?.lua;;' LUA_CPATH='/there/?.so;./?.so'"
    local _, text = run_there(program, paths_given, "")
    local paths, objects = text:match "^([^\t]*)\t([^\n]*)\n"
    assert.matches("/there/?.lua", paths, 1, true)
    assert.matches("/there/?.so", objects, 1, true)
    for entry in (paths .. ";" .. objects):gmatch "[^;]+" do assert.equal("/", entry:sub(1, 1), entry) end
  end)
end)

describe("a command whose folder is no clone", function()
  it("does not take C modules from the folder that BUILD names", function()
    local copy = folder .. "/copy"
    assert(os.execute(("unset LD_PRELOAD; mkdir -p %s/elsewhere/purser && cp -R bin lua %s/"):format(copy, copy)))
    files.write(copy .. "/elsewhere/purser/core.so", "not a library")
    local build = os.getenv "BUILD" or "build/lua5.4"
    local _, text = run_there(lua .. " " .. copy .. "/bin/purser",
      ("BUILD=elsewhere LUA_CPATH='%s/%s/?.so'"):format(clone, build), "operations wallet.withdraw")
    assert.is_nil(text:find("elsewhere", 1, true), text)
    assert.matches("wallet.withdraw", text, 1, true)
    assert(os.execute(("mkdir %s/.git"):format(copy)))
    _, text = run_there(lua .. " " .. copy .. "/bin/purser", "BUILD=elsewhere", "operations wallet.withdraw")
    assert.matches("elsewhere/purser/core.so", text, 1, true)
  end)
end)
