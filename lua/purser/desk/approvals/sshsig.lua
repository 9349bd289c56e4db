-- SPDX-License-Identifier: MIT
-- Reads and checks the signatures of `ssh-keygen -Y sign`: SSHSIG over Ed25519, by a key in a file or a FIDO token. The
-- reader is strict: one spelling, nothing behind the end, nothing reserved, and a namespace for each purpose.

local core = require "purser.core"

local M = {}

local byte, char, find, floor, format, gmatch, gsub, match, sub = string.byte, string.char, string.find, math.floor,
  string.format, string.gmatch, string.gsub, string.match, string.sub

local PLAIN, TOKEN = "ssh-ed25519", "sk-ssh-ed25519@openssh.com"
local MAX_BYTES = 4096

local CURE = "make a key with `ssh-keygen -t ed25519` (or -t ed25519-sk), and sign with it"

-- Returns the text at `at` behind its length in four bytes, and the next place; nil for a cut text.
local function take(bytes, at)
  local a, b, c, d = byte(bytes, at, at + 3)
  local last = d and at + 3 + ((a * 256 + b) * 256 + c) * 256 + d
  if not last or last > #bytes then return nil end
  return sub(bytes, at + 4, last), last + 1
end

-- Returns exactly `count` texts up to the end; nil for any other number.
local function texts(bytes, at, count)
  local list = {}
  for i = 1, count do
    list[i], at = take(bytes, at)
    if not at then return nil end
  end
  return at == #bytes + 1 and list or nil
end

local function with_length(text)
  local n = #text
  return char(floor(n / 16777216) % 256, floor(n / 65536) % 256, floor(n / 256) % 256, n % 256) .. text
end

-- Returns a public key { type, key, application }; or nil and a message.
local function key_of(blob)
  local kind = take(blob, 1)
  if kind ~= PLAIN and kind ~= TOKEN then
    return nil, format('a key of the kind "%s" is not taken; %s', gsub(kind or "?", "[^%w@.-]", "?"), CURE)
  end
  local parts = texts(blob, 1, kind == TOKEN and 3 or 2)
  if not parts or #parts[2] ~= 32 then return nil, "the public key is not whole" end
  if not core.is_ed25519_key(parts[2]) then
    return nil, "the public key is one for which anybody can make signatures; " .. CURE
  end
  return { type = kind, key = parts[2], application = parts[3] }
end

--- Reads a line of a public key file: { type, key = 32 bytes, application, text = the line without comment }.
---@return table|nil key, string|nil message
function M.key(line)
  local kind, letters = match(line, "^(%S+) (%S+)")
  local blob = letters and core.base64_decode(letters)
  if not blob then return nil, 'this is no line of a public key file, such as "ssh-ed25519 AAAA..."' end
  local key, message = key_of(blob)
  if not key then return nil, message end
  if key.type ~= kind then return nil, "the line names another kind of key than it holds" end
  key.text = kind .. " " .. letters
  return key
end

local BEGIN, END = "-----BEGIN SSH SIGNATURE-----\n", "-----END SSH SIGNATURE-----\n"

local function blob_of(text)
  local body = #text <= MAX_BYTES and sub(text, 1, #BEGIN) == BEGIN and sub(text, -#END) == END
    and sub(text, #BEGIN + 1, -#END - 1)
  if not body or find("\n" .. body, "\n\n", 1, true) or sub(body, -1) ~= "\n" then return nil end
  return core.base64_decode((gsub(body, "\n", "")))
end

--- Reads an armoured signature, unchecked: { public, namespace, hash, bytes, flags, counter }.
---@return table|nil signature, string|nil message
function M.read(text)
  local blob = blob_of(text)
  if not blob then return nil, "this is no signature as `ssh-keygen -Y sign` writes it" end
  if sub(blob, 1, 10) ~= "SSHSIG\0\0\0\1" then return nil, "the signature is not of version 1" end
  local parts = texts(blob, 11, 5)
  if not parts then return nil, "the signature is not whole, or goes on behind its end" end
  local public, message = key_of(parts[1])
  if not public then return nil, message end
  local hash = parts[4]
  if parts[3] ~= "" then return nil, "the signature has something where nothing is reserved" end
  if hash ~= "sha512" and hash ~= "sha256" then return nil, "the signature is over another digest than SHA-512" end
  local tail, kind, bytes, flags, counter = parts[5], nil, nil, nil, nil
  if public.type == TOKEN then tail, flags, counter = sub(tail, 1, -6), sub(tail, -5, -5), sub(tail, -4) end
  local inner = texts(tail, 1, 2)
  if inner then kind, bytes = inner[1], inner[2] end
  if kind ~= public.type or #bytes ~= 64 then return nil, "the signature is not one of its key's kind" end
  if flags and byte(flags) % 2 == 0 then return nil, "nobody touched the token: the key signs without a person" end
  return { public = public, namespace = parts[2], hash = hash, bytes = bytes, flags = flags, counter = counter }
end

-- Returns the signed bytes (a token signs a digest); or nil and a message.
local function signed(signature, text)
  local digest, problem = core[signature.hash](text)
  if not digest then return nil, problem end
  local message = "SSHSIG" .. with_length(signature.namespace) .. with_length "" .. with_length(signature.hash)
    .. with_length(digest)
  if not signature.flags then return message end
  local application
  application, problem = core.sha256(signature.public.application)
  if application then digest, problem = core.sha256(message) end
  if problem then return nil, problem end
  return application .. signature.flags .. signature.counter .. digest
end

--- Tells whether a signature is over a text, in a namespace. Returns nil and a message where OpenSSL fails: that
--- signature may be a withdrawal.
---@return boolean|nil is_good, string|nil message
function M.verify(signature, namespace, text)
  if signature.namespace ~= namespace then return false end
  local bytes, problem = signed(signature, text)
  if not bytes then return nil, problem end
  return core.verify_ed25519(signature.public.key, bytes, signature.bytes)
end

--- Returns the armoured signatures of a text, one behind another; nil where anything else is in the text.
---@return string[]|nil
function M.split(text)
  local list, length = {}, 0
  for one in gmatch(text, gsub(BEGIN, "%-", "%%-") .. ".-" .. gsub(END, "%-", "%%-")) do
    list[#list + 1], length = one, length + #one
  end
  return length == #text and list or nil
end

return M
