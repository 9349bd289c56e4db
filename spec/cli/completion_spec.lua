-- SPDX-License-Identifier: MIT
-- `purser completion`: what the real bash, zsh and fish offer with its scripts.
-- make test: 17 s, waits

local command = require "command"
local files = require "files"

local shell = command.shell
local folder, environment

setup(function()
  folder = os.tmpname()
  os.remove(folder)
  for _, inner in ipairs { "bin", "functions", "fish/completions", "empty" } do
    assert(os.execute("mkdir -p " .. folder .. "/" .. inner))
  end
  -- the command as it runs here: its own first line names one Lua
  files.write(folder .. "/bin/purser", ("#!/bin/sh\nexec %s bin/purser \"$@\"\n"):format(
    os.getenv "LUA" or "lua5.4"))
  shell(("chmod 755 %s/bin/purser"):format(folder))
  files.write(folder .. "/only.one", "")
  for name, path in pairs { bash = "/bash", zsh = "/functions/_purser", fish = "/fish/completions/purser.fish" } do
    local code, script = command.run { "completion", name }
    assert.equal(0, code)
    files.write(folder .. path, script)
  end
  environment = ("env PATH=%s/bin:$PATH XDG_CONFIG_HOME=%s HOME=%s/empty XDG_CACHE_HOME="):format(folder, folder,
    folder)
end)

teardown(function() os.execute("rm -rf " .. folder) end)

-- Runs a shell with that folder of caches. Returns what it printed.
local function run(line, cache)
  local code, text = shell(("%s%s timeout 120 %s 2>&1"):format(environment, cache or folder .. "/empty", line))
  assert.equal(0, code, text)
  return text
end

local function sorted_words(text)
  local list = {}
  for word in text:gmatch "%S+" do list[#list + 1] = word end
  table.sort(list)
  return table.concat(list, " ")
end

-- Offers of each shell after each of the lines, sorted: line -> words.
local offers = {}

-- The shell function is called as bash does it for TAB: bash cuts words at the =.
function offers.bash(lines, cache)
  local found, script = {}, { ". " .. folder .. "/bash" }
  for _, line in ipairs(lines) do
    local words, count = {}, 0
    for word in line:gsub(" $", " ''"):gsub("=", " = "):gmatch "%S+" do words[#words + 1], count = word, count + 1 end
    script[#script + 1] = ("COMP_WORDS=(%s); COMP_CWORD=%d; _purser; echo \"<${COMPREPLY[*]}>\""):format(
      table.concat(words, " "), count - 1)
  end
  files.write(folder .. "/lines.bash", table.concat(script, "\n") .. "\n")
  local at = 0
  for text in run("bash --norc " .. folder .. "/lines.bash", cache):gmatch "<([^>]*)>" do
    at = at + 1
    local before = lines[at]:match "(%S*=)%S*$"
    found[lines[at]] = sorted_words(before and text:gsub("%S+", before .. "%0") or text)
  end
  return found
end

function offers.fish(lines, cache)
  local found, script = {}, {}
  for i, line in ipairs(lines) do script[i] = ("complete -C %s; echo '<END>'"):format(command.quote(line)) end
  files.write(folder .. "/lines.fish", table.concat(script, "\n") .. "\n")
  local at = 0
  for text in run(("fish %s/lines.fish"):format(folder), cache):gmatch "(.-)<END>\n" do
    at = at + 1
    found[lines[at]] = sorted_words(text)
  end
  return found
end

-- An interactive zsh on a pseudo terminal: TAB lists the choices, ^B completes the line, and ^X ends the line.
local INNER = [[
PS1= PS2= RPS1=
stty cols 400 rows 1000
LISTMAX=100000
fpath=(%s/functions $fpath)
autoload -Uz compinit
compinit -u -D
unsetopt beep
finish() { zle -I; print -r -- "<${BUFFER}>"; zle .kill-buffer; print "THE""END" }
zle -N finish
bindkey '^I' list-choices
bindkey '^B' complete-word
bindkey '^X' finish
print "THE""END"
]]
local OUTER = [[
zmodload zsh/zpty || exit 9
zpty z zsh -f -i
zpty -w z 'source %s/inner.zsh'
zpty -r z out '*THEEND*' || exit 8
for line in ${(f)"$(<%s/lines)"}; do
  zpty -w -n z "$line"$'%s\C-x'
  zpty -r z out '*THEEND*' || exit 8
  print -r -- "$out"
done
zpty -d z
]]

-- Returns what zsh's terminal shows after each line and that key.
local function zsh(lines, key, cache)
  files.write(folder .. "/inner.zsh", INNER:format(folder))
  files.write(folder .. "/outer.zsh", OUTER:format(folder, folder, key))
  files.write(folder .. "/lines", table.concat(lines, "\n") .. "\n")
  local found, at = {}, 0
  for text in run(("zsh -f %s/outer.zsh </dev/null"):format(folder), cache):gmatch "(.-)THEEND" do
    at = at + 1
    found[lines[at] or at] = text
  end
  return found
end

function offers.zsh(lines, cache)
  local found = zsh(lines, "\\t", cache)
  for line, text in pairs(found) do found[line] = sorted_words(text:match "\27%[J([^\27]*)\27%[%d*A" or "") end
  return found
end

local SHELLS = { "bash", "zsh", "fish" }

-- line -> what is offered; each name once
local expected = {
  ["purser wallet withdra"] = "withdraw withdraw_legacy withdrawal_addresses withdrawal_history",
  ["purser wallet withdraw --netW"] = "--netWork",
  ["purser wallet transfer --fromAccountType F"] = "FUTURES",
  ["purser wallet coins --columns networkList.withdrawF"] = "networkList.withdrawFee",
  ["purser wallet deposit_history --status SU"] = "SUCCESS",
  ["purser wallet deposit_history --filter status=SUCCESS --stat"] = "--status",
  ["purser pay"] = "payouts",
  ["purser payouts r"] = "report retry run",
  ["purser payouts x.csv --operation wallet.withdraw_"] = "wallet.withdraw_legacy",
  ["purser payouts x.csv --operation wallet.co"] = "wallet.convert",
  ["purser wait w"] = "withdrawal",
  ["purser wait withdrawal x --goal s"] = "sent success",
  ["purser fleet d"] = "distribute",
  ["purser journal li"] = "limit list",
  ["purser operations wallet.withdrawal_h"] = "wallet.withdrawal_history",
  ["purser help wallet withdraw_"] = "withdraw_legacy",
  ["purser completion "] = "bash fish zsh",
}

describe("purser completion", function()
  local lines = {}

  setup(function()
    for line in pairs(expected) do lines[#lines + 1] = line end
    table.sort(lines)
  end)

  for _, name in ipairs(SHELLS) do
    it("offers in " .. name .. " what may follow, each word once, from the first line on", function()
      local found = offers[name](lines)
      for line, words in pairs(expected) do assert.equal(sorted_words(words), found[line], line) end
    end)

    it("offers in " .. name .. " the files of the folder where an option takes one", function()
      local line = "purser wallet coins --output " .. folder .. "/on"
      assert.matches("only%.one$", offers[name]({ line })[line])
    end)
  end

  it("lets zsh write the rest of a word, with a blank after it", function()
    assert.matches("<purser payouts >", zsh({ "purser pay" }, "\\C-b")["purser pay"], 1, true)
  end)

  it("knows no other shell", function()
    assert.equal(2, (command.run { "completion", "tcsh" }))
  end)
end)
