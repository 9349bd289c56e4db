-- SPDX-License-Identifier: MIT
--- Walks spec/golden: one folder a case, one test a stage, so that a failure names both.
--
-- `parameters` and `layout` are Lua assignments; every other file is the exact text and one line end. The signatures
-- were made with the openssl command, and tools/golden-check makes them again here.

local core = require "purser.core"

local ROOT = "spec/golden/"

local function read(path)
  local file = io.open(path, "rb")
  if not file then return nil end
  local text = file:read("*a")
  file:close()
  return text
end

local function read_text(path)
  local text = read(path)
  return text and (text:gsub("\n$", ""))
end

local function read_assignments(path)
  local values = {}
  local chunk
  if setfenv then -- luacheck: ignore 113
    chunk = assert(loadstring(read(path), path)) -- luacheck: ignore 113
    setfenv(chunk, values) -- luacheck: ignore 113
  else
    chunk = assert(load(read(path), path, "t", values)) -- luacheck: ignore 113
  end
  chunk()
  return values
end

local function cases()
  local names = {}
  local listing = assert(io.popen("cd " .. ROOT .. " && ls -d */"))
  for name in listing:lines() do names[#names + 1] = name:match "^[^/]+" end
  listing:close()
  return names
end

local names = cases()

describe("golden cases", function()
  it("are all there", function()
    assert.is_true(#names >= 10)
  end)

  for _, name in ipairs(names) do
    describe(name, function()
      local folder = ROOT .. name .. "/"
      local parameters = read_assignments(folder .. "parameters")
      local case = read_assignments(folder .. "layout")
      local expected = {
        query = read_text(folder .. "query"),
        body = read_text(folder .. "body") or "",
        signed_text = read_text(folder .. "signed-text"),
        signature = read_text(folder .. "signature"),
      }
      local key = read_text(folder .. "key")
      local layout, signer

      setup(function()
        layout = core.layout(case.query, case.body, case.body_form)
        signer = assert(core.signer("hmac-sha256", key))
      end)

      it("builds the query", function()
        assert.equal(expected.query, layout:query(parameters))
        assert.is_nil(expected.query:find("^&"))
        assert.is_nil(expected.query:find("&$"))
      end)

      it("builds the body", function()
        assert.equal(expected.body, layout:body(parameters))
      end)

      it("knows the signed text", function()
        assert.equal(expected.signed_text, layout:query(parameters))
      end)

      it("signs", function()
        assert.equal(expected.signature, signer:sign(expected.signed_text))
      end)

      it("does all of it in one call", function()
        local separator = expected.query == "" and "" or "&"
        assert.equal(expected.query .. separator .. "signature=" .. expected.signature,
          signer:sign_query(layout, parameters, "signature"))
      end)

      it("is confirmed by the openssl command", function()
        -- A sanitizer preloaded into this process has no business in openssl.
        local run = assert(io.popen("LD_PRELOAD= tools/golden-check " .. name .. " 2>&1"))
        local answer = run:read("*a")
        run:close()
        assert.equal("golden-check: " .. name .. ": ok\n", answer)
      end)
    end)
  end
end)
