-- SPDX-License-Identifier: MIT
-- The folder of a policy: 1.json, 2.json, ... with signatures in 1.sigs, 2.sigs. Each version names the digest of the
-- version before, and is signed by the approvers of both.

local core = require "purser.core"
local files = require "purser.client.util.files"
local policy = require "purser.desk.approvals.policy"
local rules = require "purser.desk.approvals.rules"
local sshsig = require "purser.desk.approvals.sshsig"

local M = { NAMESPACE = "purser-policy-1" }

local floor, format = math.floor, string.format

-- Returns the persons of a policy who signed a text as a policy, by name. Nil and a message where a signature could not
-- be checked.
local function persons_of(each, text, signatures)
  local persons = {}
  for _, armoured in ipairs(signatures) do
    local signature = sshsig.read(armoured)
    local is_good, problem
    if signature then is_good, problem = sshsig.verify(signature, M.NAMESPACE, text) end
    if problem then return nil, problem end
    local person = is_good and each.by_key[signature.public.key]
    if person then persons[person] = true end
  end
  return persons
end

-- Returns why a version does not follow another (nil for the first); nil where the version does.
local function problem(new, old, signatures, account)
  local list = sshsig.split(signatures)
  if not list then return "its signatures are not as `ssh-keygen -Y sign` writes them" end
  local due = (old and old.version or 0) + 1
  if new.version ~= due then return format("it is version %d, and version %d is due", new.version, due) end
  if old and new.replaces ~= old.digest then return "it replaces another policy than the version before it" end
  if new.account ~= account then return format('it is of the account "%s"', new.account) end
  for _, each in ipairs { old or new, new } do
    local persons, unchecked = persons_of(each, new.text, list)
    if not persons then return unchecked end
    if not rules.filled(each, each.change, persons) then
      return format("not all have signed whom the `change` of version %d names", each.version)
    end
  end
end

-- Returns why a folder is not trusted: who can remove files brings back an older policy.
local function distrust(folder)
  local mode, is_own, is_missing = core.file_mode(folder)
  if not mode then
    return is_missing ~= true and format("the policy's folder %s cannot be looked at: %s", folder, is_own) or nil
  end
  if floor(mode / 16) % 2 == 1 or floor(mode / 2) % 2 == 1 or not is_own then -- its group, and all
    return format("the policy's folder %s can be changed by others; let it be yours or root's: chmod go-w", folder)
  end
end

--- Reads a folder. Returns a chain: `latest`, `versions`, and `ever` (by key: its names in all versions); or nil and a
--- message where a version is wrong.
function M.open(folder, account)
  local chain, wrong = { folder = folder, versions = {}, ever = {} }, distrust(folder)
  if wrong then return nil, wrong end
  while true do
    local at = format("%s/%d", folder, #chain.versions + 1)
    local text, message, is_missing = files.read_trusted(at .. ".json")
    if not text and is_missing and chain.latest then return chain end
    if not text then return nil, message end
    local new, signatures
    new, message = policy.read(text)
    if new then signatures, message = files.read_trusted(at .. ".sigs") end
    message = message or problem(new, chain.latest, signatures, account)
    if message then return nil, format("the policy %s.json cannot be used: %s", at, message) end
    for key, person in pairs(new.by_key) do
      chain.ever[key] = chain.ever[key] or {}
      chain.ever[key][person] = true
    end
    chain.latest, chain.versions[new.version] = new, new
  end
end

--- Installs a version that is signed by the approvers of both versions. Returns its number; or nil and a message.
---@return integer|nil version, string|nil message
function M.install(folder, account, text, signatures)
  local new, message = policy.read(text)
  if not new then return nil, message end
  local at, chain = format("%s/%d", folder, new.version), {}
  local _, _, is_missing = core.file_mode(at .. ".json")
  if is_missing ~= true then return nil, at .. ".json is there already" end
  if new.version > 1 then chain, message = M.open(folder, account) end
  message = message or problem(new, chain.latest, signatures, account)
  if message then return nil, message end
  local ok
  ok, message = files.replace(at .. ".sigs", signatures)
  if ok then ok, message = files.replace(at .. ".json", text) end
  if ok then return new.version end
  return nil, format("the folder %s cannot be written (`mkdir -m 700` makes it): %s", folder, tostring(message))
end

return M
