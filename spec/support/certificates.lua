-- SPDX-License-Identifier: MIT
--- Makes an authority and certificates of it with the openssl command, in a folder that `remove` takes away.

local files = require "files"

local M = {}

local function run(command)
  local ok = os.execute(command .. " >/dev/null 2>&1")
  assert(ok == true or ok == 0, "failed: " .. command)
end

--- `subjects` maps a name to `{ alt = "IP:127.0.0.1", expired = true }`; each name gets NAME.crt and NAME.key.
function M.make(subjects)
  local folder = files.folder()
  local key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes"
  run("mkdir " .. folder .. "/authorities")
  local path = function(name) return folder .. "/" .. name end
  run(("openssl req -x509 %s -subj '/CN=Purser test authority' -days 2 -keyout %s -out %s"):format(
    key, path("ca.key"), path("ca.crt")))
  run(("cp %s %s && openssl rehash %s"):format(path("ca.crt"), path("authorities/ca.pem"), path("authorities")))
  for name, subject in pairs(subjects) do
    files.write(path(name .. ".ext"), "subjectAltName=" .. subject.alt .. "\n")
    run(("openssl req %s -subj /CN=test -keyout %s -out %s"):format(key, path(name .. ".key"), path(name .. ".csr")))
    run(("openssl x509 -req -in %s -CA %s -CAkey %s -CAcreateserial -days %d -extfile %s -out %s"):format(
      path(name .. ".csr"), path("ca.crt"), path("ca.key"), subject.expired and -1 or 2, path(name .. ".ext"),
      path(name .. ".crt")))
  end
  return { folder = folder, path = path, text = function(name) return files.read(path(name)) end }
end

--- The value of the option `pinned_key` for the certificate `name`.
function M.pin(made, name)
  local out = made.path("pin")
  run(("openssl x509 -in %s -pubkey -noout | openssl pkey -pubin -outform der | openssl dgst -sha256 -binary " ..
    "| openssl base64 -A -out %s"):format(made.path(name .. ".crt"), out))
  return "sha256//" .. files.read(out)
end

function M.remove(made)
  files.remove(made.folder)
end

return M
