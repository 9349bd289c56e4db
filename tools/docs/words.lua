-- SPDX-License-Identifier: MIT
-- The words that the generated pages use and the rows do not hold: what a member of a result means, what an effect is.

local M = {}

M.groups = {
  broker = { title = "Broker operations", class = "Broker",
    about = "What a broker does with its sub-accounts. Each needs the key of a broker, or of one of its sub-accounts "
      .. "where the operation says so." },
  sub_account = { title = "Sub-account operations", class = "SubAccount",
    about = "What a main account does with its sub-accounts. Only its own key is accepted here." },
  wallet = { title = "Wallet operations", class = "Wallet",
    about = "What an account does with its own wallet: coins, deposits, withdrawals, transfers, conversions." },
  live = { title = "Operations of the live service", class = "Live",
    about = "What the live service has beyond the interface document. A profile has to allow them." },
}

M.effects = {
  read = "a read call; it is retried where that may help",
  create = "creates; sent once",
  change = "changes; sent once",
  transfer = "**moves money**; sent once, never repeated",
}

M.signers = { main = "the main account's", sub = "the sub-account's own" }

-- Members that mean the same wherever they stand.
M.members = {
  accessKey = "public key", accountType = "business account", balances = "what the account has, one entry an asset",
  canDeposit = "deposits are possible", canTrade = "trading is possible", canWithdraw = "withdrawals are possible",
  ipWhiteList = "addresses the key is bound to, comma-separated",
  remainingValidity = "days until the key ends; -999 for ever, 0 ended",
  address = "address, without the memo", addressTag = "address tag", amount = "amount",
  applyTime = "time of the request, ms", apiKey = "public key", asset = "asset", balance = "balance",
  clientTranId = "your own id of the transfer",
  code = "code of the reason", coin = "coin", coinId = "id of the asset", confirmNo = "confirmations so far",
  confirmTimes = "progress of the confirmations", contract = "contract of the coin on this network",
  convert = "obtained, in the platform token", convertFee = "fee, in the platform token",
  convertTime = "time of the batch, ms", convertDetails = "one entry a coin", createTime = "time of creation, ms",
  convertPlatformToken = "value in the platform token, after the fee", convertUsdt = "value in USDT",
  depositDesc = "text about deposits", depositEnable = "deposits are possible", depositTips = "hint for deposits",
  failedList = "coins that were not converted, and why", fee = "fee", free = "available",
  fromAccount = "source account", fromAccountType = "source business account",
  fromSymbol = "source trading pair (margin)", id = "id", insertTime = "time the deposit was seen, ms",
  ip = "addresses the key is bound to, comma-separated", isFreeze = "frozen", isFuturesEnabled = "futures are enabled",
  locked = "not available: in orders or waiting withdrawals", memo = "memo", message = "text of the reason",
  minConfirm = "confirmations a deposit needs", name = "name", netWork = "short network id, for `wallet.withdraw`",
  network = "network", networkList = "the coin's networks", note = "remark",
  permissions = "permission names, comma-separated", remark = "remark", sameAddress = "as the service sends it",
  secretKey = "private key; only the operation that creates the key returns it", status = "status",
  subAccount = "name of the sub-account", successList = "coins that were converted", symbol = "trading pair",
  time = "time, ms", timestamp = "time, ms", toAccount = "destination account",
  toAccountType = "destination business account", toSymbol = "destination trading pair (margin)",
  totalConvert = "obtained in all after the fee, in the platform token", totalFee = "fee in all",
  tranId = "id of the transfer",
  transactionFee = "fee", transferType = "0 off the platform, 1 within it",
  transHash = "hash of the transaction", txId = "id of the transaction on its network",
  type = "category, such as `spot`",
  uid = "user id", unlockConfirm = "confirmations needed before the funds are free",
  updateTime = "time of the last change, ms", vcoinId = "id of the coin", withdrawEnable = "withdrawals are possible",
  withdrawFee = "fee of a withdrawal",
  withdrawIntegerMultiple = "step of a withdrawal's amount, a decimal such as 0.000001 (Mexc.Net#61, 2026-08)",
  withdrawMax = "largest withdrawal", withdrawMin = "smallest withdrawal",
  withdrawOrderId = "your own id, when one was given",
  withdrawTips = "hint for withdrawals",
}

-- Members whose meaning is narrower in one shape.
M.members_of = {
  withdrawal_id = { id = "id of the withdrawal" },
  conversion = { totalConvert = "obtained after the fee, in the platform token" },
  sub_account_status = { status = "`1` normal, `2` frozen" },
  sub_account_transfer = { status = "`SUCCESS`, or a word for failed, waiting or interrupted" },
  wallet_transfer = { status = "`SUCCESS`, `FAILED`, `WAIT`" },
  created_sub_account = { timestamp = "time of creation, ms; B1 leaves it out" },
  api_key = { subAccount = "name of the sub-account; lists leave it out" },
  deposit = {
    status = "see [deposit states](#deposit-states)", addressTag = "address tag; A11 leaves it out",
  },
  sub_account_deposit = { status = "see [deposit states](#deposit-states); text here" },
  withdrawal = {
    id = "id of the withdrawal", amount = "amount that is sent",
    status = "see [withdrawal states](#withdrawal-states)",
    address = "destination, as the service sends it", network = "network; an old record may lack it",
  },
  withdrawal_address = { address = "destination, as the service sends it" },
  rebate = { time = "day, as yyyymmdd", uid = "user who brought the rebate" },
  network = {
    name = "name of the coin on this network", contract = "contract of the coin on this network; may be empty",
    network = "long network name, for deposit addresses and the old withdrawal; the service means to retire it",
  },
  internal_transfer = {
    tranId = "id of the transfer; may be an empty text",
    toAccount = "whom it went to", toAccountType = "`EMAIL`, `UID` or `MOBILE`", fromAccount = "who paid",
  },
  conversion_detail = { amount = "amount of the converted coin" },
}

-- States that travel as numbers. Others may arrive; they pass through.
M.states = {
  deposit = {
    title = "Deposit states", shapes = { "deposit", "sub_account_deposit" },
    "small", "delayed", "large, delayed", "pending", "success", "auditing", "rejected", "refunded", "credited early",
    "invalid", "restricted", "returned or completed (sources disagree)",
  },
  withdrawal = {
    title = "Withdrawal states", shapes = { "withdrawal" },
    "applied", "auditing", "waiting", "processing", "packaging", "confirming", "success", "failed", "cancelled",
    "manual",
  },
}

-- Sentences that say how an unknown outcome is found out; `%s` are the id's parameter and the operation to look in.
M.reconcile = {
  client_id = "`client:reconcile(err)` looks in `{lookup}` for its `{client_id}`, which is made when you give none.",
  name = "`client:reconcile(err)` looks in `{lookup}` for the `{client_id}`.",
  token = "`client:reconcile(err)` looks in `{lookup}` for the key with the `{client_id}` you gave; make it one of a "
    .. "kind. The secret is lost: with `recreate = true` the key is deleted with `{delete_operation}` and made again.",
  match = "`client:reconcile(err)` looks in `{lookup}` for the one record with the same {match_on}, made "
    .. "since the call.",
  conversion = "`client:reconcile(err)` looks in `{lookup}` for the one batch of these coins, made since the call.",
  state = "`client:reconcile(err)` looks in `{lookup}` whether the `{client_id}` is as requested.",
  ["repeat"] = "It may be run again: twice is the same as once.",
  nothing = "Nothing identifies it but its `remark`: no program should run it again; a person must look in "
    .. "`{lookup}`.",
}

-- The options of purser.new in the order of their page: name, type, default, what it does.
M.options = {
  { "base_url", "string", "of the profile", "Where the service is. `https://`; `http://` only to this machine." },
  { "profile", "string|table", '`"default"`', "The signing conventions: [signing.md](client/signing.md)." },
  { "api_key", "string", "", "The public key." },
  { "secret_key", "string|purser.Secret", "", "Its secret. C's copy is wiped by `client:close()`, "
    .. "a string's copies in Lua are not: [signing.md](client/signing.md#where-the-secret-key-is)." },
  { "secret_key_file", "string", "", "A file that holds the secret alone: it never becomes a Lua string." },
  { "secret_key_env", "string", "", "An environment variable that holds it: likewise, and the variable is wiped." },
  { "credentials", "fun(): string, string", "",
    "Called before each request instead: returns both, so that keys can rotate." },
  { "recv_window", "integer", "the service's 5000", "Milliseconds a request stays acceptable; at most 60000." },
  { "timeout_ms", "integer", "10000", "For one attempt, connecting included." },
  { "connect_timeout_ms", "integer", "3000", "For connecting and TLS." },
  { "retry", "purser.RetryOptions|false", "3 attempts", "How read calls are retried: [below](#retries)." },
  { "rate_limit", "purser.RateLimitOptions|purser.RateLimit|false", "the profile's",
    "How much is sent: [limits.md](client/limits.md)." },
  { "hooks", "purser.Hooks", "none",
    "Functions that see every attempt, and every wait for the rate limit: [below](#hooks)." },
  { "transport", "purser.Transport", "curl", "What sends requests: [transports.md](client/transports.md)." },
  { "clock", "fun(): integer", "the system's", "Returns epoch milliseconds for `timestamp`." },
  { "generate_ids", "boolean", "true",
    "Whether Purser makes an id where you give none, so a lost answer can be [reconciled](write/outcomes.md)." },
  { "visibility_delay_ms", "integer", "60000",
    "How long a new record may be missing from lists; [outcomes.md](write/outcomes.md)." },
  { "journal", "purser.Journal", "", "Records each write call before it is sent: [journal.md](write/journal.md)." },
  { "account", "string", "a digest of the key", "The name under which the journal keeps what this client does." },
  { "guard", "purser.GuardOptions", "", "Guard rails: [guard-rails.md](write/guard-rails.md)." },
  { "policy", "string", "", "A folder of signed policies for the account: [approvals.md](desk/approvals.md)." },
  { "correct_clock", "boolean", "true", "Whether code 700003 corrects [the clock](client/options.md#the-clock)." },
  { "proxy", "string", "`https_proxy`, `all_proxy`", "URL of a proxy." },
  { "ca_file", "string", "the system's", "A file of certificates to trust." },
  { "ca_path", "string", "the system's", "A directory of certificates; loads faster than one large file." },
  { "ca_pem", "string", "", "Certificates to trust, as text." },
  { "pinned_key", "string", "", "The service's public key must have this hash (`sha256//...`)." },
  { "user_agent", "string", "`purser/<version>`", "The `User-Agent` header." },
  { "max_response_bytes", "integer", "16777216", "An answer that is longer is rejected." },
  { "allow_insecure", "boolean", "`false`",
    "Permits `http://` to other machines. Keys and funds are then in the open." },
}

-- The options of one call.
M.call_options = {
  { "timeout_ms", "integer", "the client's", "For each attempt of this call." },
  { "recv_window", "integer", "the client's", "For this call." },
  { "extra_params", "table<string, string|integer|boolean>", "", "Parameters that this version does not know." },
  { "key", "string", "", "Your name of a write call without an id: with a journal it is made once." },
  { "asked", "table", "", "The parameters as a person gave them, where a program completed them: asked for again with "
    .. "the same key it is the same call." },
  { "equal_since", "integer", "", "Epoch ms. With a journal and a key: refuses a transfer where an equal transfer of "
    .. "another key was made since, or may have been." },
  { "info", "purser.CallInfo", "",
    "Is filled with `http_status`, `headers` (lower-case names), `attempts` and `timings` (`connect_us`, `tls_us`, "
      .. "`first_byte_us`, `total_us`: microseconds from the start, as far as the transport knows them). `repeated` is "
      .. "true where nothing was sent, as the call was made before." },
}

--- Returns what a member of a shape means; raises when it is not written here.
function M.meaning(shape, member)
  return (M.members_of[shape] or {})[member] or M.members[member]
    or error(("tools/docs/words.lua does not say what %s.%s means"):format(shape, member), 0)
end

return M
