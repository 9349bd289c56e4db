-- SPDX-License-Identifier: MIT
-- Keys of persons, made and used by the real ssh-keygen; and the signature of a FIDO token, built as OpenSSH's
-- PROTOCOL.u2f says, with OpenSSL for the one step that needs the private key.
--
--     local ssh_keys = require "ssh_keys"
--     teardown(ssh_keys.remove)
--     ssh_keys.sign("alice", "purser-plan-1", text)  -- the armoured signature
--     ssh_keys.public "alice"                        -- "ssh-ed25519 AAAA..."

local core = require "purser.core"
local files = require "files"
local whole = dofile "tools/whole_files.lua"

local M = {}

local folder
local made, tokens = {}, 0

-- The place of the program: sh would look along PATH at each of some thousand runs.
local KEYGEN = whole.output_of "command -v ssh-keygen":match "%S+" or "ssh-keygen"

local function run(command, ...)
  local line = "unset LD_PRELOAD; exec " .. command:format(...) -- of a sanitizer, which is for this process alone
  local code = os.execute(line .. " >/dev/null 2>&1")
  assert(code == true or code == 0, line)
end

local function read(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read "*a"
  file:close()
  return text
end

--- The folder of the keys.
function M.folder()
  folder = folder or files.folder()
  return folder
end

--- The path of a person's private key; the key is made at its first use. `kind` is that of ssh-keygen.
function M.path(name, kind)
  local path = M.folder() .. "/" .. name
  if not made[name] then
    run(KEYGEN .. " -q -t %s -N '' -C %s -f %s", kind or "ed25519", name, path)
    made[name] = true
  end
  return path
end

--- A person's public key, without the comment.
function M.public(name, kind)
  return (read(M.path(name, kind) .. ".pub"):match "^%S+ %S+")
end

--- The signature that ssh-keygen makes of a text, as `options` say it.
function M.sign(name, namespace, text, options)
  local path = M.folder() .. "/text"
  whole.write(path, text)
  os.remove(path .. ".sig")
  run(KEYGEN .. " -Y sign %s -f %s -n %s %s", options or "", M.path(name), namespace, path)
  return read(path .. ".sig")
end

--- Tells whether `ssh-keygen -Y verify` takes a signature for that person's.
function M.takes(name, namespace, text, signature)
  local at = M.folder()
  whole.write(at .. "/text", text)
  whole.write(at .. "/text.sig", signature)
  whole.write(at .. "/signers", name .. " " .. M.public(name) .. "\n")
  local code = os.execute(("env -u LD_PRELOAD ssh-keygen -Y verify -f %s/signers -I %s -n %s -s %s/text.sig < %s/text "
    .. ">/dev/null 2>&1"):format(at, name, namespace, at, at))
  return code == true or code == 0
end

local ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

--- Bytes as base64.
function M.base64(bytes)
  local out = {}
  for at = 1, #bytes, 3 do
    local a, b, c = bytes:byte(at, at + 2)
    local n = a * 65536 + (b or 0) * 256 + (c or 0)
    for i = 1, 4 do
      local six = math.floor(n / 64 ^ (4 - i)) % 64 + 1
      out[#out + 1] = (i == 3 and not b or i == 4 and not c) and "=" or ALPHABET:sub(six, six)
    end
  end
  return table.concat(out)
end

--- A text with its length in four bytes before it.
function M.with_length(text)
  local n = #text
  return string.char(0, 0, math.floor(n / 256), n % 256) .. text
end

--- A signature's bytes in ssh-keygen's armour.
function M.armour(blob)
  return "-----BEGIN SSH SIGNATURE-----\n" .. M.base64(blob):gsub(("."):rep(70), "%0\n"):gsub("([^\n])$", "%1\n")
    .. "-----END SSH SIGNATURE-----\n"
end

--- The bytes of an armoured signature.
function M.bytes(armoured)
  return core.base64_decode((armoured:gsub("%-[^\n]*\n", ""):gsub("\n", "")))
end

--- The key of a token: { public = its line, sign = function(namespace, text, flags) -> armoured }.
function M.token(application)
  application = application or "ssh:"
  tokens = tokens + 1
  local at = M.folder() .. "/token" .. tokens
  run("openssl genpkey -algorithm ed25519 -out %s.pem", at)
  run("openssl pkey -in %s.pem -pubout -outform DER -out %s.der", at, at)
  local key, kind = read(at .. ".der"):sub(-32), "sk-ssh-ed25519@openssh.com"
  local blob = M.with_length(kind) .. M.with_length(key) .. M.with_length(application)
  local function sign(namespace, text, flags)
    local message = "SSHSIG" .. M.with_length(namespace) .. M.with_length "" .. M.with_length "sha512"
      .. M.with_length(core.sha512(text))
    local tail = string.char(flags or 1) .. "\0\0\0\7"
    whole.write(at .. ".text", core.sha256(application) .. tail .. core.sha256(message))
    run("openssl pkeyutl -sign -rawin -inkey %s.pem -in %s.text -out %s.sig", at, at, at)
    return M.armour("SSHSIG\0\0\0\1" .. M.with_length(blob) .. M.with_length(namespace) .. M.with_length ""
      .. M.with_length "sha512" .. M.with_length(M.with_length(kind) .. M.with_length(read(at .. ".sig")) .. tail))
  end
  return { public = kind .. " " .. M.base64(blob), sign = sign }
end

--- Removes all keys.
function M.remove()
  if folder then files.remove(folder) end
  folder, made = nil, {}
end

return M
