rockspec_format = "3.0"
package = "purser"
version = "scm-1"
source = { url = "git+https://example.org/purser.git" }
description = {
  summary = "Accounts, sub-accounts, deposits, withdrawals and transfers of a trading platform, exact and never twice",
  detailed = [[
    Purser runs the account-management side of a trading platform from Lua: sub-accounts and their API keys, deposit
    addresses, deposits, withdrawals, transfers, conversions and rebates. Signing, transport and decoding are a C core.
  ]],
  license = "MIT",
}
dependencies = { "lua >= 5.1, < 5.5" }
external_dependencies = {
  CURL = { header = "curl/curl.h", library = "curl" },
  OPENSSL = { header = "openssl/evp.h", library = "crypto" },
}
build = {
  type = "builtin",
  modules = {},
}
