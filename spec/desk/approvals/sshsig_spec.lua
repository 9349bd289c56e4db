-- SPDX-License-Identifier: MIT
-- The reader of SSHSIG against the real ssh-keygen, and against each bit of a signature.

local core = require "purser.core"
local ssh_keys = require "ssh_keys"
local sshsig = require "purser.desk.approvals.sshsig"

local PURPOSE, TEXT = "purser-plan-1", "what is signed\n"

teardown(ssh_keys.remove)

local function accepts(armoured, key, text)
  local signature = sshsig.read(armoured)
  return signature ~= nil and signature.public.key == key.key and sshsig.verify(signature, PURPOSE, text or TEXT)
end

-- The bytes of a signature, taken apart and put together with some parts changed.
local function forged(public, changes)
  local with = ssh_keys.with_length
  local kind = changes.kind or "ssh-ed25519"
  return ssh_keys.armour((changes.magic or "SSHSIG\0\0\0\1") .. with(changes.public or with(kind) .. with(public))
    .. with(changes.namespace or PURPOSE) .. with(changes.reserved or "") .. with(changes.hash or "sha512")
    .. with(with(changes.signature_kind or kind) .. with(changes.bytes) .. (changes.inside or ""))
    .. (changes.behind or ""))
end

describe("a signature of ssh-keygen", function()
  local alice, armoured, token

  setup(function()
    alice = assert(sshsig.key(ssh_keys.public "alice" .. " a comment"))
    armoured = ssh_keys.sign("alice", PURPOSE, TEXT)
    token = ssh_keys.token()
  end)

  it("is accepted for its text, its key and its purpose alone", function()
    assert.is_true(accepts(armoured, alice))
    assert.is_true(accepts(ssh_keys.sign("alice", PURPOSE, TEXT, "-O hashalg=sha256"), alice))
    assert.is_false(accepts(armoured, alice, TEXT .. "\n"))
    assert.is_false(accepts(armoured, assert(sshsig.key(ssh_keys.public "bob"))))
    assert.is_false(accepts(ssh_keys.sign("alice", "purser-plan-withdraw-1", TEXT), alice))
    assert.is_true(ssh_keys.takes("alice", PURPOSE, TEXT, armoured))
    assert.equal(ssh_keys.public "alice", alice.text)
  end)

  it("by a token needs the person's touch", function()
    local key = assert(sshsig.key(token.public))
    assert.is_true(accepts(token.sign(PURPOSE, TEXT), key))
    assert.is_true(accepts(token.sign(PURPOSE, TEXT, 5), key))
    local signature, message = sshsig.read(token.sign(PURPOSE, TEXT, 4))
    assert.is_nil(signature)
    assert.matches("nobody touched", message)
    local other = assert(sshsig.key(ssh_keys.token("ssh:other").public))
    assert.is_false(accepts(token.sign(PURPOSE, TEXT), other))
  end)

  for _, who in ipairs { "key", "token" } do
    it("by a " .. who .. " is accepted with no bit changed, cut off or added", function()
      local key = who == "key" and alice or assert(sshsig.key(token.public))
      local blob = ssh_keys.bytes(who == "key" and armoured or token.sign(PURPOSE, TEXT))
      assert.is_true(accepts(ssh_keys.armour(blob), key))
      local accepted = 0
      local function try(bytes)
        if accepts(ssh_keys.armour(bytes), key) then accepted = accepted + 1 end
      end
      for at = 1, #blob do
        for bit = 0, 7 do
          local byte = blob:byte(at)
          local flipped = math.floor(byte / 2 ^ bit) % 2 == 1 and byte - 2 ^ bit or byte + 2 ^ bit
          try(blob:sub(1, at - 1) .. string.char(flipped) .. blob:sub(at + 1))
        end
        try(blob:sub(1, at - 1))
        try(blob:sub(1, at) .. "\0" .. blob:sub(at + 1))
      end
      assert.equal(0, accepted)
    end)
  end

  it("has one armour, and nothing around it", function()
    for _, text in ipairs { "", " " .. armoured, armoured .. "\n", armoured .. armoured, armoured:gsub("\n", "\r\n"),
      armoured:sub(1, -2), armoured:gsub("\n%-+END", "\n%0"), armoured:gsub("\n$", " \n"), ("A"):rep(9000) } do
      assert.is_nil((sshsig.read(text)))
    end
    assert.same({ armoured, armoured }, sshsig.split(armoured .. armoured))
    assert.same({}, sshsig.split "")
    for _, text in ipairs { armoured .. "x", "x" .. armoured, armoured .. "\n" .. armoured, armoured:sub(1, -2) } do
      assert.is_nil(sshsig.split(text))
    end
  end)

  it("is rejected in every form but one", function()
    local bytes = ssh_keys.bytes(armoured):sub(-64)
    assert.is_true(accepts(forged(alice.key, { bytes = bytes }), alice))
    local cases = {
      ["not of version 1"] = { magic = "SSHSIG\0\0\0\2" }, ["nothing is reserved"] = { reserved = "x" },
      ["another digest"] = { hash = "sha1" }, ["behind its end"] = { behind = "\0" },
      ["its key's kind"] = { inside = "\0" }, ["kind \"ssh%-rsa\" is not taken"] = { kind = "ssh-rsa" },
      ["%-t ed25519"] = { kind = "ecdsa-sha2-nistp256" }, ["cert%-v01"] = { kind = "ssh-ed25519-cert-v01@openssh.com" },
    }
    for expected, changes in pairs(cases) do
      changes.bytes = bytes
      local signature, message = sshsig.read(forged(alice.key, changes))
      assert.is_nil(signature)
      assert.matches(expected, message)
    end
    assert.is_nil((sshsig.read(forged(alice.key, { bytes = bytes, signature_kind = "ssh-rsa" }))))
    assert.is_nil((sshsig.read(forged(alice.key, { bytes = bytes .. "\0" }))))
  end)

  it("has one spelling of its number", function()
    -- the order of the group, least byte first, added to the second half
    local order = { 0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14 }
    order[32] = 0x10
    local bytes = ssh_keys.bytes(armoured):sub(-64)
    local sum, carry = {}, 0
    for i = 1, 32 do
      carry = carry + bytes:byte(32 + i) + (order[i] or 0)
      sum[i], carry = string.char(carry % 256), math.floor(carry / 256)
    end
    assert.equal(0, carry)
    assert.is_false(accepts(forged(alice.key, { bytes = bytes:sub(1, 32) .. table.concat(sum) }), alice))
  end)

  it("by a key of small order, or another spelling of a key, is none", function()
    local function point(first, last, middle) return first .. (middle or "\0"):rep(30) .. last end
    local five = "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"
    local seven = "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"
    local keys = {}
    for _, high in ipairs { 0, 128 } do
      for _, hex in ipairs { five, seven } do
        local key = hex:gsub("%x%x", function(digits) return string.char(tonumber(digits, 16)) end)
        keys[#keys + 1] = key:sub(1, 31) .. string.char(key:byte(32) + high)
      end
      for _, first in ipairs { "\0", "\1" } do keys[#keys + 1] = point(first, string.char(high)) end
      for _, first in ipairs { "\236", "\237", "\238" } do
        keys[#keys + 1] = point(first, string.char(127 + high), "\255")
      end
    end
    assert.equal(14, #keys)
    local with = ssh_keys.with_length
    for _, key in ipairs(keys) do
      assert.is_false(core.verify_ed25519(key, TEXT, key .. ("\0"):rep(32)))
      local made, message = sshsig.key("ssh-ed25519 " .. ssh_keys.base64(with "ssh-ed25519" .. with(key)))
      assert.is_nil(made)
      assert.matches("anybody can make signatures", message)
      assert.is_nil((sshsig.read(forged(key, { bytes = key .. ("\0"):rep(32) }))))
    end
  end)

  it("needs a key that Purser takes, and says which", function()
    local made, message = sshsig.key(ssh_keys.public("rsa", "rsa"))
    assert.is_nil(made)
    assert.matches("ssh%-keygen %-t ed25519", message)
    assert.matches("ecdsa", select(2, sshsig.key(ssh_keys.public("ec", "ecdsa"))))
    local line = ssh_keys.public "alice"
    for _, text in ipairs { "", "ssh-ed25519", "ssh-ed25519 ", line .. "A", line:gsub("^%S+", "ssh-rsa"),
      line:gsub("%S$", "\1") } do
      assert.is_nil((sshsig.key(text)), text)
    end
  end)
end)
