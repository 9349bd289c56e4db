-- SPDX-License-Identifier: MIT
-- The list of a release's parts as SPDX 2.3, for tools/release/dist: the package, what it needs, every file with its
-- checksums.
--
--   sbom.lua NAME COMMIT TIME FOLDER     FOLDER holds NAME/ unpacked, and `sha1` and `sha256` as sha1sum(1) writes them

local name, commit, time, folder = arg[1], arg[2], arg[3], arg[4]

-- Needs of the package to build or run, and of features that are requested. The system has them; none
-- is part of the release.
local needs = {
  { "Lua", "MIT", "5.1 to 5.4, or LuaJIT 2.1" },
  { "libcurl", "curl", "7.80 or newer" },
  { "OpenSSL", "Apache-2.0", "3.0 or newer" },
  { "libmicrohttpd", "LGPL-2.1-or-later", "the simulator over HTTP", optional = true },
  { "LuaDBI", "MIT", "the journal and payouts", optional = true },
}

-- JSON of strings, lists and lists of members { { name, value }, ... }, which keep their order.
local write
local function text(value)
  return '"' .. value:gsub('[%c"\\]', function(byte) return ("\\u%04x"):format(byte:byte()) end) .. '"'
end
local function object(members) return { object = members } end
local function joined(parts, from, to) return from .. table.concat(parts, ",\n") .. to end
function write(value)
  if type(value) == "boolean" then return tostring(value) end
  if type(value) == "string" then return text(value) end
  local parts = {}
  for i, member in ipairs(value.object or value) do
    parts[i] = value.object and text(member[1]) .. ": " .. write(member[2]) or write(member)
  end
  if value.object then return joined(parts, "{\n", "\n}") end
  return joined(parts, "[\n", "\n]")
end

local function checksums_of(kind)
  local by_path, paths = {}, {}
  for line in io.lines(folder .. "/" .. kind) do
    local sum, path = line:match "^(%x+)  (.*)$"
    by_path[path], paths[#paths + 1] = sum, path
  end
  return by_path, paths
end

local sha1, paths = checksums_of "sha1"
local sha256 = checksums_of "sha256"

-- The identifier that a file itself states in its first lines.
local function license_in(path)
  local file = assert(io.open(("%s/%s/%s"):format(folder, name, path), "rb"))
  local head = file:read(300) or ""
  file:close()
  return head:match "SPDX%-License%-Identifier: ([%w%.%-]+)" or "NONE"
end

local files, relationships, stated = {}, {}, { NONE = true }
local function relate(from, kind, to)
  relationships[#relationships + 1] = object {
    { "spdxElementId", from }, { "relationshipType", kind }, { "relatedSpdxElement", to } }
end

relate("SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-Package")
local licenses = {}
for i, path in ipairs(paths) do
  local id, license = "SPDXRef-File-" .. i, license_in(path)
  if not stated[license] then stated[license], licenses[#licenses + 1] = true, license end
  files[i] = object {
    { "SPDXID", id }, { "fileName", path },
    { "checksums", { object { { "algorithm", "SHA1" }, { "checksumValue", sha1[path] } },
      object { { "algorithm", "SHA256" }, { "checksumValue", sha256[path] } } } },
    { "licenseConcluded", "MIT" }, { "licenseInfoInFiles", { license } }, { "copyrightText", "NOASSERTION" },
  }
  relate("SPDXRef-Package", "CONTAINS", id)
end
if #licenses == 0 then licenses[1] = "NONE" end

-- SPDX: the SHA-1 of all files' SHA-1, sorted and put together.
local function verification_code()
  local sums = {}
  for i, path in ipairs(paths) do sums[i] = sha1[path] end
  table.sort(sums)
  local file = assert(io.open(folder .. "/sums", "wb"))
  assert(file:write(table.concat(sums)))
  assert(file:close())
  local pipe = assert(io.popen(("sha1sum '%s/sums'"):format(folder)))
  local code = pipe:read("*a"):match "^%x+"
  pipe:close()
  return assert(code)
end

local function package(id, title, version, license, more)
  local members = {
    { "SPDXID", id }, { "name", title }, { "versionInfo", version }, { "downloadLocation", "NOASSERTION" },
    { "licenseConcluded", license }, { "licenseDeclared", license }, { "copyrightText", "NOASSERTION" },
  }
  for _, member in ipairs(more) do members[#members + 1] = member end
  return object(members)
end

local title, version = name:match "^(.-)%-(.*)$"
local packages = { package("SPDXRef-Package", title, version, "MIT", {
  { "filesAnalyzed", true },
  { "packageVerificationCode", object { { "packageVerificationCodeValue", verification_code() } } },
  { "licenseInfoFromFiles", licenses }, { "sourceInfo", "git commit " .. commit },
}) }
for _, need in ipairs(needs) do
  local id = "SPDXRef-Package-" .. need[1]
  packages[#packages + 1] = package(id, need[1], need[3], need[2], { { "filesAnalyzed", false } })
  if need.optional then relate(id, "OPTIONAL_DEPENDENCY_OF", "SPDXRef-Package")
  else relate("SPDXRef-Package", "DEPENDS_ON", id) end
end

print(write(object {
  { "spdxVersion", "SPDX-2.3" }, { "dataLicense", "CC0-1.0" }, { "SPDXID", "SPDXRef-DOCUMENT" }, { "name", name },
  { "documentNamespace", ("https://spdx.org/spdxdocs/%s-%s"):format(name, commit) },
  { "creationInfo", object { { "created", time }, { "creators", { "Tool: purser-tools-sbom" } } } },
  { "packages", packages }, { "files", files }, { "relationships", relationships },
}))
