---@meta
-- SPDX-License-Identifier: MIT
-- luacheck: ignore
-- Made by tools/docs.lua from the rows; `make docs` makes it again. For editors: no program loads this file.
-- An `integer` beyond the host's exact range arrives as its text; see docs/client/numbers.md.

---@alias purser.account_types
---| "SPOT"
---| "FUTURES"

---@alias purser.broker_permissions
---| "SPOT_ACCOUNT_READ"
---| "SPOT_ACCOUNT_WRITE"
---| "SPOT_DEAL_READ"
---| "SPOT_DEAL_WRITE"
---| "CONTRACT_ACCOUNT_READ"
---| "CONTRACT_ACCOUNT_WRITE"
---| "CONTRACT_DEAL_READ"
---| "CONTRACT_DEAL_WRITE"
---| "SPOT_TRANSFER_READ"
---| "SPOT_TRANSFER_WRITE"
---| "SPOT_WITHDRAW_READ"
---| "SPOT_WITHDRAW_WRITE"
---| "SPOT_DEPOSIT_READ"
---| "SPOT_DEPOSIT_WRITE"

---@alias purser.deposit_states
---| "SMALL"
---| "TIME_DELAY"
---| "LARGE_DELAY"
---| "PENDING"
---| "SUCCESS"
---| "AUDITING"
---| "REJECTED"
---| "REFUND"
---| "PRE_SUCCESS"
---| "INVALID"
---| "RESTRICTED"
---| "COMPLETED"

---@alias purser.identifier_types
---| "EMAIL"
---| "UID"
---| "MOBILE"

---@alias purser.permissions
---| "SPOT_ACCOUNT_READ"
---| "SPOT_ACCOUNT_WRITE"
---| "SPOT_DEAL_READ"
---| "SPOT_DEAL_WRITE"
---| "CONTRACT_ACCOUNT_READ"
---| "CONTRACT_ACCOUNT_WRITE"
---| "CONTRACT_DEAL_READ"
---| "CONTRACT_DEAL_WRITE"
---| "SPOT_TRANSFER_READ"
---| "SPOT_TRANSFER_WRITE"

---@alias purser.withdrawal_states
---| "APPLY"
---| "AUDITING"
---| "WAIT"
---| "PROCESSING"
---| "WAIT_PACKAGING"
---| "WAIT_CONFIRM"
---| "SUCCESS"
---| "FAILED"
---| "CANCEL"
---| "MANUAL"

---@class purser.record.api_key
---@field subAccount? string  name of the sub-account; lists leave it out
---@field note? string  remark
---@field apiKey? string  public key
---@field secretKey? string  private key; only the operation that creates the key returns it
---@field permissions? string  permission names, comma-separated
---@field ip? string  addresses the key is bound to, comma-separated
---@field createTime? integer  time of creation, ms

---@class purser.record.balance
---@field asset? string  asset
---@field free? string  available
---@field locked? string  not available: in orders or waiting withdrawals

---@class purser.record.broker_sub_account
---@field subAccount? string  name of the sub-account
---@field note? string  remark
---@field timestamp? integer  time, ms

---@class purser.record.coin
---@field coin? string  coin
---@field name? string  name
---@field networkList? purser.record.network[]  the coin's networks

---@class purser.record.conversion
---@field successList? string[]  coins that were converted
---@field failedList? purser.record.failed_conversion[]  coins that were not converted, and why
---@field totalConvert string  obtained after the fee, in the platform token
---@field convertFee? string  fee, in the platform token

---@class purser.record.conversion_batch
---@field totalConvert? string  obtained in all after the fee, in the platform token
---@field totalFee? string  fee in all
---@field convertTime? integer  time of the batch, ms
---@field convertDetails? purser.record.conversion_detail[]  one entry a coin

---@class purser.record.conversion_detail
---@field id? string  id
---@field convert? string  obtained, in the platform token
---@field fee? string  fee
---@field amount? string  amount of the converted coin
---@field time? integer  time, ms
---@field asset? string  asset

---@class purser.record.convertible_balance
---@field convertPlatformToken? string  value in the platform token, after the fee
---@field convertUsdt? string  value in USDT
---@field balance? string  balance
---@field asset? string  asset
---@field code? string  code of the reason
---@field message? string  text of the reason
---@field currencyId? any  undocumented; seen in dv-merchant's responses, 2026-08

---@class purser.record.created_sub_account
---@field subAccount string  name of the sub-account
---@field note? string  remark
---@field timestamp? integer  time of creation, ms; B1 leaves it out

---@class purser.record.deposit
---@field amount? string  amount
---@field coin? string  coin
---@field network? string  network
---@field status? integer  see [deposit states](#deposit-states)
---@field address? string  address, without the memo
---@field addressTag? string  address tag; A11 leaves it out
---@field txId? string  id of the transaction on its network
---@field unlockConfirm? string  confirmations needed before the funds are free
---@field confirmTimes? string  progress of the confirmations
---@field insertTime? integer  time the deposit was seen, ms
---@field memo? string  memo

---@class purser.record.deposit_address
---@field address? string  address, without the memo
---@field coin? string  coin
---@field network? string  network
---@field memo? string  memo
---@field netWork? any  undocumented; seen in dv-merchant 195fc8b, 2026-08

---@class purser.record.failed_conversion
---@field asset? string  asset
---@field message? string  text of the reason
---@field code? string  code of the reason

---@class purser.record.futures_state
---@field subAccount string  name of the sub-account
---@field isFuturesEnabled? boolean  futures are enabled
---@field timestamp? string  time, ms

---@class purser.record.internal_transfer
---@field tranId? string  id of the transfer; may be an empty text
---@field asset? string  asset
---@field amount? string  amount
---@field toAccountType? string  EMAIL, UID or MOBILE
---@field toAccount? string  whom it went to
---@field fromAccount? string  who paid
---@field status? string  status
---@field timestamp? integer  time, ms

---@class purser.record.live_account
---@field canTrade? boolean  trading is possible
---@field canWithdraw? boolean  withdrawals are possible
---@field canDeposit? boolean  deposits are possible
---@field accountType string  business account
---@field balances? purser.record.live_balance[]  what the account has, one entry an asset
---@field permissions? string[]  permission names, comma-separated

---@class purser.record.live_api_key
---@field note? string  remark
---@field accessKey string  public key
---@field status? string  status
---@field permissions? string  permission names, comma-separated
---@field ipWhiteList? string  addresses the key is bound to, comma-separated
---@field createTime? string  time of creation, ms
---@field remainingValidity? integer  days until the key ends; -999 for ever, 0 ended

---@class purser.record.live_balance
---@field asset? string  asset
---@field free? string  available
---@field locked? string  not available: in orders or waiting withdrawals

---@class purser.record.live_kyc_status
---@field status string  status

---@class purser.record.live_uid
---@field uid string  user id

---@class purser.record.named_sub_account
---@field subAccount string  name of the sub-account

---@class purser.record.network
---@field coin? string  coin
---@field name? string  name of the coin on this network
---@field network? string  long network name, for deposit addresses and the old withdrawal; the service means to retire it
---@field netWork? string  short network id, for wallet.withdraw
---@field depositEnable? boolean  deposits are possible
---@field withdrawEnable? boolean  withdrawals are possible
---@field withdrawFee? string  fee of a withdrawal
---@field withdrawMin? string  smallest withdrawal
---@field withdrawMax? string  largest withdrawal
---@field withdrawIntegerMultiple? string  step of a withdrawal's amount, a decimal such as 0.000001 (Mexc.Net#61, 2026-08)
---@field minConfirm? integer  confirmations a deposit needs
---@field sameAddress? boolean  as the service sends it
---@field contract? string  contract of the coin on this network; may be empty
---@field depositDesc? string  text about deposits
---@field depositTips? string  hint for deposits
---@field withdrawTips? string  hint for withdrawals
---@field depositPreConfirms? any  undocumented; seen in dv-merchant's responses, 2026-08

---@class purser.record.rebate
---@field asset? string  asset
---@field amount? string  amount
---@field type? string  category, such as spot
---@field uid? string  user who brought the rebate
---@field time? string  day, as yyyymmdd

---@class purser.record.sub_account
---@field subAccount? string  name of the sub-account
---@field isFreeze? boolean  frozen
---@field createTime? integer  time of creation, ms
---@field uid? string  user id

---@class purser.record.sub_account_deposit
---@field amount? string  amount
---@field coin? string  coin
---@field network? string  network
---@field status? string  see [deposit states](#deposit-states); text here
---@field address? string  address, without the memo
---@field addressTag? string  address tag
---@field txId? string  id of the transaction on its network
---@field unlockConfirm? string  confirmations needed before the funds are free
---@field confirmTimes? string  progress of the confirmations
---@field insertTime? integer  time the deposit was seen, ms
---@field memo? string  memo

---@class purser.record.sub_account_status
---@field status string  1 normal, 2 frozen

---@class purser.record.sub_account_transfer
---@field tranId? string  id of the transfer
---@field fromAccount? string  source account
---@field toAccount? string  destination account
---@field clientTranId? string  your own id of the transfer
---@field asset? string  asset
---@field amount? string  amount
---@field fromAccountType? string  source business account
---@field toAccountType? string  destination business account
---@field fromSymbol? string  source trading pair (margin)
---@field toSymbol? string  destination trading pair (margin)
---@field status? string  SUCCESS, or a word for failed, waiting or interrupted
---@field timestamp? integer  time, ms

---@class purser.record.transfer_id
---@field tranId string  id of the transfer

---@class purser.record.wallet_transfer
---@field tranId? string  id of the transfer
---@field clientTranId? string  your own id of the transfer
---@field asset? string  asset
---@field amount? string  amount
---@field fromAccountType? string  source business account
---@field toAccountType? string  destination business account
---@field symbol? string  trading pair
---@field fromSymbol? string  source trading pair (margin)
---@field toSymbol? string  destination trading pair (margin)
---@field status? string  SUCCESS, FAILED, WAIT
---@field timestamp? integer  time, ms

---@class purser.record.withdrawal
---@field id? string  id of the withdrawal
---@field withdrawOrderId? string  your own id, when one was given
---@field txId? string  id of the transaction on its network
---@field coin? string  coin
---@field network? string  network; an old record may lack it
---@field address? string  destination, as the service sends it
---@field amount? string  amount that is sent
---@field transferType? integer  0 off the platform, 1 within it
---@field status? integer  see [withdrawal states](#withdrawal-states)
---@field transactionFee? string  fee
---@field confirmNo? integer  confirmations so far
---@field applyTime? integer  time of the request, ms
---@field updateTime? integer  time of the last change, ms
---@field remark? string  remark
---@field memo? string  memo
---@field transHash? string  hash of the transaction
---@field coinId? string  id of the asset
---@field vcoinId? string  id of the coin
---@field netWork? any  undocumented; seen in Mexc.Net#61, 2026-08
---@field explorerUrl? any  undocumented; seen in Mexc.Net#61, 2026-08

---@class purser.record.withdrawal_address
---@field coin? string  coin
---@field network? string  network
---@field address? string  destination, as the service sends it
---@field addressTag? string  address tag
---@field memo? string  memo
---@field netWork? any  undocumented; seen in Mexc.Net#61, 2026-08
---@field chainNames? any  undocumented; seen in Mexc.Net#61, 2026-08
---@field chainDisplayName? any  undocumented; seen in Mexc.Net#61, 2026-08

---@class purser.record.withdrawal_id
---@field id string  id of the withdrawal

---@class purser.page.rebate
---@field data purser.record.rebate[]
---@field page? integer
---@field totalRecords? integer
---@field totalPageNum? integer

---@class purser.page.withdrawal_address
---@field data purser.record.withdrawal_address[]
---@field page? integer
---@field totalRecords? integer
---@field totalPageNum? integer

---@class purser.rows.wallet_transfer
---@field rows purser.record.wallet_transfer[]
---@field total? integer

---@class purser.page.conversion_batch
---@field data purser.record.conversion_batch[]
---@field page? integer
---@field totalRecords? integer
---@field totalPageNum? integer

---@class purser.page.internal_transfer
---@field data purser.record.internal_transfer[]
---@field page? integer
---@field totalRecords? integer
---@field totalPageNum? integer

---@class purser.walk.sub_account_transfer: purser.Walk
---@overload fun(): purser.record.sub_account_transfer
---@field next fun(self): purser.record.sub_account_transfer?, purser.Error?  the next record; nil at the end
---@field collect fun(self): purser.record.sub_account_transfer[]?, purser.Error?  all that are left

---@class purser.walk.broker_sub_account: purser.Walk
---@overload fun(): purser.record.broker_sub_account
---@field next fun(self): purser.record.broker_sub_account?, purser.Error?  the next record; nil at the end
---@field collect fun(self): purser.record.broker_sub_account[]?, purser.Error?  all that are left

---@class purser.walk.sub_account_deposit: purser.Walk
---@overload fun(): purser.record.sub_account_deposit
---@field next fun(self): purser.record.sub_account_deposit?, purser.Error?  the next record; nil at the end
---@field collect fun(self): purser.record.sub_account_deposit[]?, purser.Error?  all that are left

---@class purser.walk.deposit: purser.Walk
---@overload fun(): purser.record.deposit
---@field next fun(self): purser.record.deposit?, purser.Error?  the next record; nil at the end
---@field collect fun(self): purser.record.deposit[]?, purser.Error?  all that are left

---@class purser.walk.rebate: purser.Walk
---@overload fun(): purser.record.rebate
---@field next fun(self): purser.record.rebate?, purser.Error?  the next record; nil at the end
---@field collect fun(self): purser.record.rebate[]?, purser.Error?  all that are left

---@class purser.walk.sub_account: purser.Walk
---@overload fun(): purser.record.sub_account
---@field next fun(self): purser.record.sub_account?, purser.Error?  the next record; nil at the end
---@field collect fun(self): purser.record.sub_account[]?, purser.Error?  all that are left

---@class purser.walk.withdrawal: purser.Walk
---@overload fun(): purser.record.withdrawal
---@field next fun(self): purser.record.withdrawal?, purser.Error?  the next record; nil at the end
---@field collect fun(self): purser.record.withdrawal[]?, purser.Error?  all that are left

---@class purser.walk.withdrawal_address: purser.Walk
---@overload fun(): purser.record.withdrawal_address
---@field next fun(self): purser.record.withdrawal_address?, purser.Error?  the next record; nil at the end
---@field collect fun(self): purser.record.withdrawal_address[]?, purser.Error?  all that are left

---@class purser.walk.wallet_transfer: purser.Walk
---@overload fun(): purser.record.wallet_transfer
---@field next fun(self): purser.record.wallet_transfer?, purser.Error?  the next record; nil at the end
---@field collect fun(self): purser.record.wallet_transfer[]?, purser.Error?  all that are left

---@class purser.walk.conversion_batch: purser.Walk
---@overload fun(): purser.record.conversion_batch
---@field next fun(self): purser.record.conversion_batch?, purser.Error?  the next record; nil at the end
---@field collect fun(self): purser.record.conversion_batch[]?, purser.Error?  all that are left

---@class purser.walk.internal_transfer: purser.Walk
---@overload fun(): purser.record.internal_transfer
---@field next fun(self): purser.record.internal_transfer?, purser.Error?  the next record; nil at the end
---@field collect fun(self): purser.record.internal_transfer[]?, purser.Error?  all that are left

---@class purser.broker.transfer_history.params
---@field clientTranId? string  32 letters and digits; your own id of the transfer
---@field fromAccount? string|integer  text; sub-account name; the parent when omitted
---@field toAccount? string|integer  text; sub-account name; the parent when omitted
---@field fromAccountType string|integer  text; such as SPOT, FUTURES
---@field toAccountType string|integer  text; such as SPOT, FUTURES
---@field startTime? integer|string  epoch milliseconds (13 digits)
---@field endTime? integer|string  epoch milliseconds (13 digits)
---@field page? integer|string  integer from 1; default 1
---@field limit? integer|string  integer from 1 to 500; default 500

---@class purser.broker.create_sub_account.params
---@field subAccount string|integer  text; name of the new sub-account
---@field note string|integer  text; remark
---@field password? string  32 hexadecimal digits; funds password as hexadecimal MD5
---@field funds_password? string  the plain password, instead of password

---@class purser.broker.list_sub_accounts.params
---@field subAccount? string|integer  text; sub-account name
---@field page? integer|string  integer from 1; default 1
---@field limit? integer|string  integer from 1 to 200; default 10

---@class purser.broker.sub_account_status.params
---@field subAccount string|integer  text; sub-account name

---@class purser.broker.create_api_key.params
---@field subAccount string|integer  text; sub-account name
---@field permissions purser.broker_permissions[]|string  permission names, a list or comma-separated, of SPOT_ACCOUNT_READ, SPOT_ACCOUNT_WRITE, SPOT_DEAL_READ, SPOT_DEAL_WRITE, CONTRACT_ACCOUNT_READ, CONTRACT_ACCOUNT_WRITE, CONTRACT_DEAL_READ, CONTRACT_DEAL_WRITE, SPOT_TRANSFER_READ, SPOT_TRANSFER_WRITE, SPOT_WITHDRAW_READ, SPOT_WITHDRAW_WRITE, SPOT_DEPOSIT_READ, SPOT_DEPOSIT_WRITE
---@field ip? string[]|string  IP addresses, a list or comma-separated; at most 4
---@field note string|integer  text; remark of the key

---@class purser.broker.list_api_keys.params
---@field subAccount string|integer  text; sub-account name

---@class purser.broker.delete_api_key.params
---@field subAccount string|integer  text; sub-account name
---@field apiKey string|integer  text; public key

---@class purser.broker.create_deposit_address.params
---@field coin string|integer  text; such as USDT
---@field network string|integer  text; network name, such as Tron(TRC20)

---@class purser.broker.deposit_addresses.params
---@field coin string|integer  text; such as USDT

---@class purser.broker.deposit_history.params
---@field coin? string|integer  text; such as USDT
---@field status? integer|string  status number, or its name; deposit status; a name is sent as it is
---@field startTime? integer|string  epoch milliseconds (13 digits)
---@field endTime? integer|string  epoch milliseconds (13 digits)
---@field limit? integer|string  integer from 1; default 20
---@field page? integer|string  integer from 1; default 1

---@class purser.broker.all_deposit_history.params
---@field coin? string|integer  text; such as USDT
---@field status? integer|string  status number, or its name; deposit status; a name is sent as it is
---@field startTime? integer|string  epoch milliseconds (13 digits)
---@field endTime? integer|string  epoch milliseconds (13 digits)
---@field limit? integer|string  integer from 1 to 1000; default 100
---@field page? integer|string  integer from 1; default 1

---@class purser.broker.withdraw.params
---@field coin string|integer  text; such as USDT
---@field network string|integer  text; network name, such as Tron(TRC20)
---@field address string  printable ASCII without blanks; where the withdrawal goes
---@field amount string|integer|purser.decimal  positive decimal as a string, such as "12.5"
---@field password? string  32 hexadecimal digits; funds password as hexadecimal MD5; when sent, the address book is not checked
---@field funds_password? string  the plain password, instead of password
---@field remark? string|integer  text; a remark of yours

---@class purser.broker.transfer.params
---@field clientTranId? string  32 letters and digits; your own id of the transfer
---@field fromAccount? string|integer  text; sub-account name; the parent when omitted
---@field toAccount? string|integer  text; sub-account name; the parent when omitted
---@field fromAccountType string|integer  text; such as SPOT, FUTURES
---@field toAccountType string|integer  text; such as SPOT, FUTURES
---@field asset string|integer  text; such as USDT
---@field amount string|integer|purser.decimal  positive decimal as a string, such as "12.5"

---@class purser.broker.enable_futures.params
---@field subAccount string|integer  text; sub-account name

---@class purser.broker.rebates.params
---@field startTime? integer|string  epoch milliseconds (13 digits)
---@field endTime? integer|string  epoch milliseconds (13 digits)
---@field page? integer|string  integer from 1; default 1
---@field pageSize? integer|string  integer from 1; default 10

--- What a broker does with its sub-accounts. Each needs the key of a broker, or of one of its sub-accounts where the operation says so.
---@class purser.Broker
local Broker = {}

--- A1 `GET /api/v3/broker/sub-account/universalTransfer`
---
--- Transfers between the parent and its sub-accounts.
---
--- Permission SPOT_TRANSFER_READ, weight not stated; a read call; it is retried where that may help.
---@param params purser.broker.transfer_history.params
---@param opts? purser.CallOptions
---@return purser.record.sub_account_transfer[]? result
---@return purser.Error? err
function Broker:transfer_history(params, opts) end

--- A2 `POST /api/v3/broker/sub-account/virtualSubAccount`
---
--- Creates a virtual sub-account.
---
--- Permission not stated, weight not stated; creates; sent once.
---
--- When the outcome is unknown: client:reconcile(err) looks in broker.list_sub_accounts for the subAccount.
---@param params purser.broker.create_sub_account.params
---@param opts? purser.CallOptions
---@return purser.record.created_sub_account? result
---@return purser.Error? err
function Broker:create_sub_account(params, opts) end

--- A3 `GET /api/v3/broker/sub-account/list`
---
--- The broker's sub-accounts.
---
--- Permission not stated, weight not stated; a read call; it is retried where that may help.
---@param params? purser.broker.list_sub_accounts.params
---@param opts? purser.CallOptions
---@return purser.record.broker_sub_account[]? result
---@return purser.Error? err
function Broker:list_sub_accounts(params, opts) end

--- A4 `GET /api/v3/broker/sub-account/status`
---
--- Whether a sub-account is normal (1) or frozen (2).
---
--- Permission not stated, weight not stated; a read call; it is retried where that may help.
---@param params purser.broker.sub_account_status.params
---@param opts? purser.CallOptions
---@return purser.record.sub_account_status? result
---@return purser.Error? err
function Broker:sub_account_status(params, opts) end

--- A5 `POST /api/v3/broker/sub-account/apiKey`
---
--- Creates an API key for a sub-account. The answer holds the secretKey, this once.
---
--- Permission not stated, weight not stated; creates; sent once.
---
--- When the outcome is unknown: client:reconcile(err) looks in broker.list_api_keys for the key with the note you gave; make it one of a kind. The secret is lost: with recreate = true the key is deleted with broker.delete_api_key and made again.
---@param params purser.broker.create_api_key.params
---@param opts? purser.CallOptions
---@return purser.record.api_key? result
---@return purser.Error? err
function Broker:create_api_key(params, opts) end

--- A6 `GET /api/v3/broker/sub-account/apiKey`
---
--- The API keys of a sub-account.
---
--- Permission not stated, weight not stated; a read call; it is retried where that may help.
---@param params purser.broker.list_api_keys.params
---@param opts? purser.CallOptions
---@return purser.record.api_key[]? result
---@return purser.Error? err
function Broker:list_api_keys(params, opts) end

--- A7 `DELETE /api/v3/broker/sub-account/apiKey`
---
--- Deletes an API key of a sub-account.
---
--- Permission not stated, weight not stated; changes; sent once.
---
--- When the outcome is unknown: client:reconcile(err) looks in broker.list_api_keys whether the apiKey is as requested.
---@param params purser.broker.delete_api_key.params
---@param opts? purser.CallOptions
---@return purser.record.named_sub_account? result
---@return purser.Error? err
function Broker:delete_api_key(params, opts) end

--- A8 `POST /api/v3/broker/capital/deposit/subAddress`
---
--- Generates a deposit address of the sub-account whose key signs.
---
--- Permission SPOT_DEPOSIT_WRITE, weight not stated; creates; sent once.
---
--- When the outcome is unknown: client:reconcile(err) looks in broker.deposit_addresses whether the network is as requested.
---@param params purser.broker.create_deposit_address.params
---@param opts? purser.CallOptions
---@return purser.record.deposit_address? result
---@return purser.Error? err
function Broker:create_deposit_address(params, opts) end

--- A9 `GET /api/v3/broker/capital/deposit/subAddress`
---
--- The deposit addresses of the sub-account whose key signs.
---
--- Permission SPOT_DEPOSIT_READ, weight not stated; a read call; it is retried where that may help.
---@param params purser.broker.deposit_addresses.params
---@param opts? purser.CallOptions
---@return purser.record.deposit_address[]? result
---@return purser.Error? err
function Broker:deposit_addresses(params, opts) end

--- A10 `GET /api/v3/broker/capital/deposit/subHisrec`
---
--- Deposits of the sub-account whose key signs.
---
--- Permission not stated, weight not stated; a read call; it is retried where that may help.
---@param params? purser.broker.deposit_history.params
---@param opts? purser.CallOptions
---@return purser.record.sub_account_deposit[]? result
---@return purser.Error? err
function Broker:deposit_history(params, opts) end

--- A11 `GET /api/v3/broker/capital/deposit/subHisrec/getall`
---
--- Deposits of all sub-accounts, from 00:00 three days ago.
---
--- Permission not stated, weight not stated; a read call; it is retried where that may help.
---@param params? purser.broker.all_deposit_history.params
---@param opts? purser.CallOptions
---@return purser.record.deposit[]? result
---@return purser.Error? err
function Broker:all_deposit_history(params, opts) end

--- A12 `POST /api/v3/broker/capital/withdraw/apply`
---
--- Withdraws from the sub-account whose key signs; never from the parent, nor from it into a sub-account.
---
--- Permission SPOT_TRANSFER_READ, weight not stated; moves money; sent once, never repeated.
---
--- When the outcome is unknown: Nothing identifies it but its remark: no program should run it again; a person must look in wallet.withdrawal_history.
---@param params purser.broker.withdraw.params
---@param opts? purser.CallOptions
---@return purser.record.withdrawal_id? result
---@return purser.Error? err
function Broker:withdraw(params, opts) end

--- A13 `POST /api/v3/broker/sub-account/universalTransfer`
---
--- Moves funds between the parent and its sub-accounts.
---
--- Permission SPOT_TRANSFER_READ, weight not stated; moves money; sent once, never repeated.
---
--- When the outcome is unknown: client:reconcile(err) looks in broker.transfer_history for its clientTranId, which is made when you give none.
---@param params purser.broker.transfer.params
---@param opts? purser.CallOptions
---@return purser.record.transfer_id? result
---@return purser.Error? err
function Broker:transfer(params, opts) end

--- A14 `POST /api/v3/broker/sub-account/futures`
---
--- Enables the futures business of a sub-account.
---
--- Permission not stated, weight not stated; changes; sent once.
---
--- When the outcome is unknown: It may be run again: twice is the same as once.
---@param params purser.broker.enable_futures.params
---@param opts? purser.CallOptions
---@return purser.record.futures_state? result
---@return purser.Error? err
function Broker:enable_futures(params, opts) end

--- A15 `GET /api/v3/broker/rebate/taxQuery`
---
--- The broker's rebates.
---
--- Permission not stated, weight not stated; a read call; it is retried where that may help.
---@param params? purser.broker.rebates.params
---@param opts? purser.CallOptions
---@return purser.page.rebate? result
---@return purser.Error? err
function Broker:rebates(params, opts) end

---@class purser.broker.each_transfer.params: purser.WalkParams
---@field clientTranId? string  32 letters and digits
---@field fromAccount? string|integer  text
---@field toAccount? string|integer  text
---@field fromAccountType string|integer  text
---@field toAccountType string|integer  text

--- Walks every record of `broker.transfer_history`: Transfers between the parent and its sub-accounts.
---@param params purser.broker.each_transfer.params
---@param opts? purser.CallOptions  of each call
---@return purser.walk.sub_account_transfer
function Broker:each_transfer(params, opts) end

---@class purser.broker.each_sub_account.params: purser.WalkParams
---@field subAccount? string|integer  text

--- Walks every record of `broker.list_sub_accounts`: The broker's sub-accounts.
---@param params? purser.broker.each_sub_account.params
---@param opts? purser.CallOptions  of each call
---@return purser.walk.broker_sub_account
function Broker:each_sub_account(params, opts) end

---@class purser.broker.each_deposit.params: purser.WalkParams
---@field coin? string|integer  text
---@field status? integer|string  status number, or its name

--- Walks every record of `broker.deposit_history`: Deposits of the sub-account whose key signs.
---@param params? purser.broker.each_deposit.params
---@param opts? purser.CallOptions  of each call
---@return purser.walk.sub_account_deposit
function Broker:each_deposit(params, opts) end

---@class purser.broker.each_sub_account_deposit.params: purser.WalkParams
---@field coin? string|integer  text
---@field status? integer|string  status number, or its name

--- Walks every record of `broker.all_deposit_history`: Deposits of all sub-accounts, from 00:00 three days ago.
---@param params? purser.broker.each_sub_account_deposit.params
---@param opts? purser.CallOptions  of each call
---@return purser.walk.deposit
function Broker:each_sub_account_deposit(params, opts) end

---@class purser.broker.each_rebate.params: purser.WalkParams

--- Walks every record of `broker.rebates`: The broker's rebates.
---@param params? purser.broker.each_rebate.params
---@param opts? purser.CallOptions  of each call
---@return purser.walk.rebate
function Broker:each_rebate(params, opts) end

--- Waits for a transfer between the parent and a sub-account (A13, B6) to succeed: give the parameters of the transfer.
---@param transfer purser.TransferSought
---@param options? purser.WaitTimes
---@return purser.record.sub_account_transfer|nil transfer
---@return purser.Error|nil err
function Broker:wait_transfer(transfer, options) end

---@class purser.sub_account.create_sub_account.params
---@field subAccount string  8 to 32 letters and digits; name of the new sub-account
---@field note string|integer  text; remark

---@class purser.sub_account.list_sub_accounts.params
---@field subAccount? string|integer  text; sub-account name
---@field isFreeze? boolean  boolean; only those that are frozen, or only those that are not
---@field page? integer|string  integer from 1; default 1
---@field limit? integer|string  integer from 1 to 200; default 10

---@class purser.sub_account.create_api_key.params
---@field subAccount string|integer  text; sub-account name
---@field note string|integer  text; remark of the key
---@field permissions purser.permissions[]|string  permission names, a list or comma-separated, of SPOT_ACCOUNT_READ, SPOT_ACCOUNT_WRITE, SPOT_DEAL_READ, SPOT_DEAL_WRITE, CONTRACT_ACCOUNT_READ, CONTRACT_ACCOUNT_WRITE, CONTRACT_DEAL_READ, CONTRACT_DEAL_WRITE, SPOT_TRANSFER_READ, SPOT_TRANSFER_WRITE
---@field ip? string[]|string  IP addresses, a list or comma-separated; at most 20

---@class purser.sub_account.list_api_keys.params
---@field subAccount string|integer  text; sub-account name

---@class purser.sub_account.delete_api_key.params
---@field subAccount string|integer  text; sub-account name
---@field apiKey string|integer  text; public key

---@class purser.sub_account.transfer.params
---@field clientTranId? string  32 letters and digits; your own id of the transfer
---@field fromAccount? string|integer  text; sub-account name; the parent when omitted
---@field toAccount? string|integer  text; sub-account name; the parent when omitted
---@field fromAccountType purser.account_types  one of SPOT, FUTURES
---@field toAccountType purser.account_types  one of SPOT, FUTURES
---@field asset string|integer  text; such as USDT
---@field amount string|integer|purser.decimal  positive decimal as a string, such as "12.5"

---@class purser.sub_account.transfer_history.params
---@field clientTranId? string  32 letters and digits; your own id of the transfer
---@field fromAccount? string|integer  text; sub-account name; the parent when omitted
---@field toAccount? string|integer  text; sub-account name; the parent when omitted
---@field fromAccountType purser.account_types  one of SPOT, FUTURES
---@field toAccountType purser.account_types  one of SPOT, FUTURES
---@field startTime? integer|string  epoch milliseconds (13 digits)
---@field endTime? integer|string  epoch milliseconds (13 digits)
---@field page? integer|string  integer from 1; default 1
---@field limit? integer|string  integer from 1 to 500; default 500

---@class purser.sub_account.balances.params
---@field subAccount string|integer  text; sub-account name
---@field accountType purser.account_types  one of SPOT, FUTURES; only SPOT is supported by the service

--- What a main account does with its sub-accounts. Only its own key is accepted here.
---@class purser.SubAccount
local SubAccount = {}

--- B1 `POST /api/v3/sub-account/virtualSubAccount`
---
--- Creates a virtual sub-account.
---
--- Permission SPOT_ACCOUNT_READ, weight 1; creates; sent once.
---
--- When the outcome is unknown: client:reconcile(err) looks in sub_account.list_sub_accounts for the subAccount.
---@param params purser.sub_account.create_sub_account.params
---@param opts? purser.CallOptions
---@return purser.record.created_sub_account? result
---@return purser.Error? err
function SubAccount:create_sub_account(params, opts) end

--- B2 `GET /api/v3/sub-account/list`
---
--- The main account's sub-accounts.
---
--- Permission SPOT_ACCOUNT_READ, weight 1; a read call; it is retried where that may help.
---@param params? purser.sub_account.list_sub_accounts.params
---@param opts? purser.CallOptions
---@return purser.record.sub_account[]? result
---@return purser.Error? err
function SubAccount:list_sub_accounts(params, opts) end

--- B3 `POST /api/v3/sub-account/apiKey`
---
--- Creates an API key for a sub-account. The answer holds the secretKey, this once.
---
--- Permission SPOT_ACCOUNT_READ, weight 1; creates; sent once.
---
--- When the outcome is unknown: client:reconcile(err) looks in sub_account.list_api_keys for the key with the note you gave; make it one of a kind. The secret is lost: with recreate = true the key is deleted with sub_account.delete_api_key and made again.
---@param params purser.sub_account.create_api_key.params
---@param opts? purser.CallOptions
---@return purser.record.api_key? result
---@return purser.Error? err
function SubAccount:create_api_key(params, opts) end

--- B4 `GET /api/v3/sub-account/apiKey`
---
--- The API keys of a sub-account.
---
--- Permission SPOT_ACCOUNT_READ, weight 1; a read call; it is retried where that may help.
---@param params purser.sub_account.list_api_keys.params
---@param opts? purser.CallOptions
---@return purser.record.api_key[]? result
---@return purser.Error? err
function SubAccount:list_api_keys(params, opts) end

--- B5 `DELETE /api/v3/sub-account/apiKey`
---
--- Deletes an API key of a sub-account.
---
--- Permission SPOT_ACCOUNT_READ, weight 1; changes; sent once.
---
--- When the outcome is unknown: client:reconcile(err) looks in sub_account.list_api_keys whether the apiKey is as requested.
---@param params purser.sub_account.delete_api_key.params
---@param opts? purser.CallOptions
---@return purser.record.named_sub_account? result
---@return purser.Error? err
function SubAccount:delete_api_key(params, opts) end

--- B6 `POST /api/v3/capital/sub-account/universalTransfer`
---
--- Moves funds between the parent and its sub-accounts.
---
--- Permission SPOT_TRANSFER_WRITE, weight 1; moves money; sent once, never repeated.
---
--- When the outcome is unknown: client:reconcile(err) looks in sub_account.transfer_history for its clientTranId, which is made when you give none.
---@param params purser.sub_account.transfer.params
---@param opts? purser.CallOptions
---@return purser.record.transfer_id? result
---@return purser.Error? err
function SubAccount:transfer(params, opts) end

--- B7 `GET /api/v3/capital/sub-account/universalTransfer`
---
--- Transfers between the parent and its sub-accounts.
---
--- Permission SPOT_TRANSFER_READ, weight 1; a read call; it is retried where that may help.
---@param params purser.sub_account.transfer_history.params
---@param opts? purser.CallOptions
---@return purser.record.sub_account_transfer[]? result
---@return purser.Error? err
function SubAccount:transfer_history(params, opts) end

--- B8 `GET /api/v3/sub-account/asset`
---
--- The balances of one sub-account.
---
--- Permission SPOT_TRANSFER_READ, weight 1; a read call; it is retried where that may help.
---@param params purser.sub_account.balances.params
---@param opts? purser.CallOptions
---@return purser.record.balance[]? result
---@return purser.Error? err
function SubAccount:balances(params, opts) end

---@class purser.sub_account.each_sub_account.params: purser.WalkParams
---@field subAccount? string|integer  text
---@field isFreeze? boolean  boolean

--- Walks every record of `sub_account.list_sub_accounts`: The main account's sub-accounts.
---@param params? purser.sub_account.each_sub_account.params
---@param opts? purser.CallOptions  of each call
---@return purser.walk.sub_account
function SubAccount:each_sub_account(params, opts) end

---@class purser.sub_account.each_transfer.params: purser.WalkParams
---@field clientTranId? string  32 letters and digits
---@field fromAccount? string|integer  text
---@field toAccount? string|integer  text
---@field fromAccountType purser.account_types  one of SPOT, FUTURES
---@field toAccountType purser.account_types  one of SPOT, FUTURES

--- Walks every record of `sub_account.transfer_history`: Transfers between the parent and its sub-accounts.
---@param params purser.sub_account.each_transfer.params
---@param opts? purser.CallOptions  of each call
---@return purser.walk.sub_account_transfer
function SubAccount:each_transfer(params, opts) end

--- Waits for a transfer between the parent and a sub-account (B6) to succeed: give the parameters of the transfer.
---@param transfer purser.TransferSought
---@param options? purser.WaitTimes
---@return purser.record.sub_account_transfer|nil transfer
---@return purser.Error|nil err
function SubAccount:wait_transfer(transfer, options) end

--- The spot balances of all sub-accounts of this account, each with its `subAccount`.
---@param params? purser.sub_account.each_sub_account.params  which accounts
---@return purser.BalanceWalk
function SubAccount:each_balance(params) end

---@class purser.wallet.withdraw.params
---@field coin string|integer  text; such as USDT
---@field withdrawOrderId? string|integer  text of 1 to 200 characters, all of which can be seen; your own id of the withdrawal
---@field netWork? string|integer  text; short network id from netWork of wallet.coins, such as TRX
---@field contractAddress? string  printable ASCII without blanks; contract of the coin on the network
---@field address string  printable ASCII without blanks; where the withdrawal goes
---@field memo? string|integer  text in which every character can be seen; required when the address needs one
---@field amount string|integer|purser.decimal  positive decimal as a string, such as "12.5"
---@field remark? string|integer  text; a remark of yours

---@class purser.wallet.cancel_withdrawal.params
---@field id string|integer  text; withdrawal id

---@class purser.wallet.deposit_history.params
---@field coin? string|integer  text; such as USDT
---@field status? integer|string  status number, or its name; deposit status
---@field startTime? integer|string  epoch milliseconds (13 digits)
---@field endTime? integer|string  epoch milliseconds (13 digits)
---@field limit? integer|string  integer from 1 to 1000; default 1000

---@class purser.wallet.withdrawal_history.params
---@field coin? string|integer  text; such as USDT
---@field status? integer|string  status number, or its name; withdrawal status
---@field limit? integer|string  integer from 1 to 1000; default 1000
---@field startTime? integer|string  epoch milliseconds (13 digits)
---@field endTime? integer|string  epoch milliseconds (13 digits)

---@class purser.wallet.create_deposit_address.params
---@field coin string|integer  text; such as USDT
---@field network string|integer  text; long network name, such as Tron(TRC20)

---@class purser.wallet.deposit_addresses.params
---@field coin string|integer  text; such as USDT
---@field network? string|integer  text; long network name, such as Tron(TRC20)

---@class purser.wallet.withdrawal_addresses.params
---@field coin? string|integer  text; such as USDT
---@field page? integer|string  integer from 1; default 1
---@field limit? integer|string  integer from 1

---@class purser.wallet.transfer.params
---@field fromAccountType purser.account_types  one of SPOT, FUTURES
---@field toAccountType purser.account_types  one of SPOT, FUTURES
---@field asset string|integer  text; such as USDT
---@field amount string|integer|purser.decimal  positive decimal as a string, such as "12.5"

---@class purser.wallet.transfer_history.params
---@field fromAccountType purser.account_types  one of SPOT, FUTURES
---@field toAccountType purser.account_types  one of SPOT, FUTURES
---@field startTime? integer|string  epoch milliseconds (13 digits)
---@field endTime? integer|string  epoch milliseconds (13 digits)
---@field page? integer|string  integer from 1; default 1
---@field size? integer|string  integer from 1 to 100; default 10

---@class purser.wallet.get_transfer.params
---@field tranId string|integer  text; id of the transfer

---@class purser.wallet.convert.params
---@field asset string[]|string  coins, a list or comma-separated; at most 15; such as USDT

---@class purser.wallet.conversion_history.params
---@field startTime? integer|string  epoch milliseconds (13 digits)
---@field endTime? integer|string  epoch milliseconds (13 digits)
---@field page? integer|string  integer from 1; default 1
---@field limit? integer|string  integer from 1 to 1000; default 1

---@class purser.wallet.internal_transfer.params
---@field toAccountType purser.identifier_types  one of EMAIL, UID, MOBILE
---@field toAccount string|integer  text; e-mail, UID or phone number
---@field areaCode? string|integer  digits of a telephone area code; required when toAccount is a phone number
---@field asset string|integer  text; such as USDT
---@field amount string|integer|purser.decimal  positive decimal as a string, such as "12.5"

---@class purser.wallet.internal_transfer_history.params
---@field startTime? integer|string  epoch milliseconds (13 digits)
---@field endTime? integer|string  epoch milliseconds (13 digits)
---@field page? integer|string  integer from 1; default 1
---@field limit? integer|string  integer from 1; default 10
---@field tranId? string|integer  text; id of the transfer

---@class purser.wallet.withdraw_legacy.params
---@field coin string|integer  text; such as USDT
---@field withdrawOrderId? string|integer  text of 1 to 200 characters, all of which can be seen; your own id of the withdrawal
---@field network? string|integer  text; network name from networkList of wallet.coins
---@field address string  printable ASCII without blanks; where the withdrawal goes
---@field memo? string|integer  text in which every character can be seen; required when the address needs one
---@field amount string|integer|purser.decimal  positive decimal as a string, such as "12.5"
---@field remark? string|integer  text; a remark of yours

--- What an account does with its own wallet: coins, deposits, withdrawals, transfers, conversions.
---@class purser.Wallet
local Wallet = {}

--- C1 `GET /api/v3/capital/config/getall`
---
--- Every coin with its networks, fees and limits.
---
--- Permission SPOT_WITHDRAW_READ, weight 10; a read call; it is retried where that may help.
---@param params? {}
---@param opts? purser.CallOptions
---@return purser.record.coin[]? result
---@return purser.Error? err
function Wallet:coins(params, opts) end

--- C2 `POST /api/v3/capital/withdraw`
---
--- Withdraws to an address.
---
--- Permission SPOT_WITHDRAW_WRITE, weight 1; moves money; sent once, never repeated.
---
--- When the outcome is unknown: client:reconcile(err) looks in wallet.withdrawal_history for its withdrawOrderId, which is made when you give none.
---@param params purser.wallet.withdraw.params
---@param opts? purser.CallOptions
---@return purser.record.withdrawal_id? result
---@return purser.Error? err
function Wallet:withdraw(params, opts) end

--- C3 `DELETE /api/v3/capital/withdraw`
---
--- Cancels a withdrawal. An answer does not prove that the withdrawal existed.
---
--- Permission SPOT_WITHDRAW_WRITE, weight 1; changes; sent once.
---
--- When the outcome is unknown: client:reconcile(err) looks in wallet.withdrawal_history whether the id is as requested.
---@param params purser.wallet.cancel_withdrawal.params
---@param opts? purser.CallOptions
---@return purser.record.withdrawal_id? result
---@return purser.Error? err
function Wallet:cancel_withdrawal(params, opts) end

--- C4 `GET /api/v3/capital/deposit/hisrec`
---
--- Deposits of the last 7 days, or of a window within the last 90.
---
--- Permission SPOT_WITHDRAW_READ, weight 1; a read call; it is retried where that may help.
---@param params? purser.wallet.deposit_history.params
---@param opts? purser.CallOptions
---@return purser.record.deposit[]? result
---@return purser.Error? err
function Wallet:deposit_history(params, opts) end

--- C5 `GET /api/v3/capital/withdraw/history`
---
--- Withdrawals of the last 7 days, or of a window within the last 90.
---
--- Permission SPOT_WITHDRAW_READ, weight 1; a read call; it is retried where that may help.
---@param params? purser.wallet.withdrawal_history.params
---@param opts? purser.CallOptions
---@return purser.record.withdrawal[]? result
---@return purser.Error? err
function Wallet:withdrawal_history(params, opts) end

--- C6 `POST /api/v3/capital/deposit/address`
---
--- Generates a deposit address.
---
--- Permission SPOT_WITHDRAW_WRITE, weight 1; creates; sent once.
---
--- When the outcome is unknown: client:reconcile(err) looks in wallet.deposit_addresses whether the network is as requested.
---@param params purser.wallet.create_deposit_address.params
---@param opts? purser.CallOptions
---@return purser.record.deposit_address? result
---@return purser.Error? err
function Wallet:create_deposit_address(params, opts) end

--- C7 `GET /api/v3/capital/deposit/address`
---
--- The deposit addresses of a coin.
---
--- Permission SPOT_WITHDRAW_READ, weight 10; a read call; it is retried where that may help.
---@param params purser.wallet.deposit_addresses.params
---@param opts? purser.CallOptions
---@return purser.record.deposit_address[]? result
---@return purser.Error? err
function Wallet:deposit_addresses(params, opts) end

--- C8 `GET /api/v3/capital/withdraw/address`
---
--- The saved withdrawal addresses.
---
--- Permission SPOT_WITHDRAW_READ, weight 10; a read call; it is retried where that may help.
---@param params? purser.wallet.withdrawal_addresses.params
---@param opts? purser.CallOptions
---@return purser.page.withdrawal_address? result
---@return purser.Error? err
function Wallet:withdrawal_addresses(params, opts) end

--- C9 `POST /api/v3/capital/transfer`
---
--- Moves funds between the spot and futures accounts of one user.
---
--- Permission SPOT_TRANSFER_WRITE, weight 1; moves money; sent once, never repeated.
---
--- When the outcome is unknown: client:reconcile(err) looks in wallet.transfer_history for the one record with the same fromAccountType, toAccountType, asset, amount, made since the call.
---@param params purser.wallet.transfer.params
---@param opts? purser.CallOptions
---@return purser.record.transfer_id? result
---@return purser.Error? err
function Wallet:transfer(params, opts) end

--- C10 `GET /api/v3/capital/transfer`
---
--- Transfers between the spot and futures accounts of one user, within the last 6 months.
---
--- Permission SPOT_TRANSFER_READ, weight 1; a read call; it is retried where that may help.
---@param params purser.wallet.transfer_history.params
---@param opts? purser.CallOptions
---@return purser.rows.wallet_transfer? result
---@return purser.Error? err
function Wallet:transfer_history(params, opts) end

--- C11 `GET /api/v3/capital/transfer/tranId`
---
--- One transfer between spot and futures, by its id, within the last 6 months.
---
--- Permission SPOT_TRANSFER_READ, weight 1; a read call; it is retried where that may help.
---@param params purser.wallet.get_transfer.params
---@param opts? purser.CallOptions
---@return purser.record.wallet_transfer? result
---@return purser.Error? err
function Wallet:get_transfer(params, opts) end

--- C12 `GET /api/v3/capital/convert/list`
---
--- Small balances with their value in the platform token, or why they cannot be converted.
---
--- Permission SPOT_ACCOUNT_READ, weight 1; a read call; it is retried where that may help.
---@param params? {}
---@param opts? purser.CallOptions
---@return purser.record.convertible_balance[]? result
---@return purser.Error? err
function Wallet:convertible_balances(params, opts) end

--- C13 `POST /api/v3/capital/convert`
---
--- Converts small balances into the platform token.
---
--- Permission SPOT_ACCOUNT_WRITE, weight 10; moves money; sent once, never repeated.
---
--- When the outcome is unknown: client:reconcile(err) looks in wallet.conversion_history for the one batch of these coins, made since the call.
---@param params purser.wallet.convert.params
---@param opts? purser.CallOptions
---@return purser.record.conversion? result
---@return purser.Error? err
function Wallet:convert(params, opts) end

--- C14 `GET /api/v3/capital/convert`
---
--- Past conversions of small balances. Without `limit` the service returns one batch.
---
--- Permission SPOT_DEAL_READ, weight 1; a read call; it is retried where that may help.
---@param params? purser.wallet.conversion_history.params
---@param opts? purser.CallOptions
---@return purser.page.conversion_batch? result
---@return purser.Error? err
function Wallet:conversion_history(params, opts) end

--- C15 `POST /api/v3/capital/transfer/internal`
---
--- Sends funds to another user of the platform.
---
--- Permission SPOT_WITHDRAW_WRITE, weight 1; moves money; sent once, never repeated.
---
--- When the outcome is unknown: client:reconcile(err) looks in wallet.internal_transfer_history for the one record with the same toAccountType, toAccount, asset, amount, made since the call.
---@param params purser.wallet.internal_transfer.params
---@param opts? purser.CallOptions
---@return purser.record.transfer_id? result
---@return purser.Error? err
function Wallet:internal_transfer(params, opts) end

--- C16 `GET /api/v3/capital/transfer/internal`
---
--- Transfers to other users of the platform.
---
--- Permission SPOT_WITHDRAW_READ, weight 1; a read call; it is retried where that may help.
---@param params? purser.wallet.internal_transfer_history.params
---@param opts? purser.CallOptions
---@return purser.page.internal_transfer? result
---@return purser.Error? err
function Wallet:internal_transfer_history(params, opts) end

--- C17 `POST /api/v3/capital/withdraw/apply`
---
--- Withdraws to an address, by the old operation. Use wallet.withdraw.
---
--- Permission SPOT_WITHDRAW_WRITE, weight 1; moves money; sent once, never repeated.
---
--- When the outcome is unknown: client:reconcile(err) looks in wallet.withdrawal_history for its withdrawOrderId, which is made when you give none.
---@deprecated use wallet.withdraw
---@param params purser.wallet.withdraw_legacy.params
---@param opts? purser.CallOptions
---@return purser.record.withdrawal_id? result
---@return purser.Error? err
function Wallet:withdraw_legacy(params, opts) end

---@class purser.wallet.each_deposit.params: purser.WalkParams
---@field coin? string|integer  text
---@field status? integer|string  status number, or its name

--- Walks every record of `wallet.deposit_history`: Deposits of the last 7 days, or of a window within the last 90.
---@param params? purser.wallet.each_deposit.params
---@param opts? purser.CallOptions  of each call
---@return purser.walk.deposit
function Wallet:each_deposit(params, opts) end

---@class purser.wallet.each_withdrawal.params: purser.WalkParams
---@field coin? string|integer  text
---@field status? integer|string  status number, or its name

--- Walks every record of `wallet.withdrawal_history`: Withdrawals of the last 7 days, or of a window within the last 90.
---@param params? purser.wallet.each_withdrawal.params
---@param opts? purser.CallOptions  of each call
---@return purser.walk.withdrawal
function Wallet:each_withdrawal(params, opts) end

---@class purser.wallet.each_withdrawal_address.params: purser.WalkParams
---@field coin? string|integer  text

--- Walks every record of `wallet.withdrawal_addresses`: The saved withdrawal addresses.
---@param params? purser.wallet.each_withdrawal_address.params
---@param opts? purser.CallOptions  of each call
---@return purser.walk.withdrawal_address
function Wallet:each_withdrawal_address(params, opts) end

---@class purser.wallet.each_transfer.params: purser.WalkParams
---@field fromAccountType purser.account_types  one of SPOT, FUTURES
---@field toAccountType purser.account_types  one of SPOT, FUTURES

--- Walks every record of `wallet.transfer_history`: Transfers between the spot and futures accounts of one user, within the last 6 months.
---@param params purser.wallet.each_transfer.params
---@param opts? purser.CallOptions  of each call
---@return purser.walk.wallet_transfer
function Wallet:each_transfer(params, opts) end

---@class purser.wallet.each_conversion.params: purser.WalkParams

--- Walks every record of `wallet.conversion_history`: Past conversions of small balances. Without `limit` the service returns one batch.
---@param params? purser.wallet.each_conversion.params
---@param opts? purser.CallOptions  of each call
---@return purser.walk.conversion_batch
function Wallet:each_conversion(params, opts) end

---@class purser.wallet.each_internal_transfer.params: purser.WalkParams
---@field tranId? string|integer  text

--- Walks every record of `wallet.internal_transfer_history`: Transfers to other users of the platform.
---@param params? purser.wallet.each_internal_transfer.params
---@param opts? purser.CallOptions  of each call
---@return purser.walk.internal_transfer
function Wallet:each_internal_transfer(params, opts) end

--- Waits for a withdrawal (C5), by its id, or by the `withdrawOrderId` you gave it.
---@param id string|{ id?: string, withdrawOrderId?: string }
---@param options? purser.WaitWithdrawalOptions
---@return purser.record.withdrawal|nil withdrawal
---@return purser.Error|nil err
function Wallet:wait_withdrawal(id, options) end

--- Waits for a transfer between the spot and futures accounts (C9) to succeed, by its tranId (C11).
---@param tran_id string
---@param options? purser.WaitTimes
---@return purser.record.wallet_transfer|nil transfer
---@return purser.Error|nil err
function Wallet:wait_transfer(tran_id, options) end

--- Plans a withdrawal: wallet.withdraw (C2), or the named operation. Returns a plan, with its problems; or nil and an
--- error.
---@param given purser.WithdrawPlanParams
---@param operation? string  "wallet.withdraw" unless given
---@param without_balance? boolean  of one among many: who plans many compares the balance with their sum, and looks for look-alikes of earlier payees once
---@return purser.Plan|nil plan
---@return purser.Error|nil err
function Wallet:plan_withdraw(given, operation, without_balance) end

--- Plans wallet.create_deposit_address (C6). execute() returns an existing address, unless `another` is wanted.
---@param given purser.AddressPlanParams
---@return purser.Plan|nil plan
---@return purser.Error|nil err
function Wallet:plan_create_deposit_address(given) end

--- Converts every convertible small balance (C12, C13): `only` and `except` are lists of coins. A batch that fails is
--- the last: the `details` of its error have the `report` so far and the batch's `assets`. With outcome "unknown" look
--- in conversion_history before you convert those again.
---@param params? { only?: string[], except?: string[] }
---@param opts? purser.CallOptions
---@return purser.ConversionReport|nil report
---@return purser.Error|nil err
function Wallet:convert_all(params, opts) end

--- Returns the network of a coin by any name of it ("TRX", "trc20", "Tron(TRC20)").
---@param given purser.NetworkQuery
---@return purser.record.network|nil network
---@return purser.Error|nil err
function Wallet:find_network(given) end

---@class purser.live.api_key.params
---@field accessKey string|integer  text; the public key

---@class purser.live.change_api_key.params
---@field apiKey string|integer  text; the public key
---@field ipWhiteList string[]|string  IP addresses, a list or comma-separated; at most 20
---@field note? string|integer  text; remark of the key

--- What the live service has beyond the interface document. A profile has to allow them.
---@class purser.Live
local Live = {}

--- L1 `GET /api/v3/account`
---
--- The balances of the account whose key signs, and what the account may do.
---
--- Permission SPOT_ACCOUNT_READ, weight 10; a read call; it is retried where that may help.
---@param params? {}
---@param opts? purser.CallOptions
---@return purser.record.live_account? result
---@return purser.Error? err
function Live:account(params, opts) end

--- L2 `GET /api/v3/apiKeyInfo`
---
--- What the service has on record of a key: permissions, IP list, days left.
---
--- Permission SPOT_ACCOUNT_READ, weight 1; a read call; it is retried where that may help.
---@param params purser.live.api_key.params
---@param opts? purser.CallOptions
---@return purser.record.live_api_key? result
---@return purser.Error? err
function Live:api_key(params, opts) end

--- L3 `POST /api/v3/apiKeyInfo`
---
--- Changes the IP list of a key.
---
--- Permission SPOT_ACCOUNT_WRITE, weight 1; changes; sent once.
---
--- When the outcome is unknown: It may be run again: twice is the same as once.
---@param params purser.live.change_api_key.params
---@param opts? purser.CallOptions
---@return purser.record.live_api_key? result
---@return purser.Error? err
function Live:change_api_key(params, opts) end

--- L4 `GET /api/v3/kyc/status`
---
--- How far the account is identified: 1 not, 2 primary, 3 advanced, 4 institutional.
---
--- Permission SPOT_ACCOUNT_READ, weight 1; a read call; it is retried where that may help.
---@param params? {}
---@param opts? purser.CallOptions
---@return purser.record.live_kyc_status? result
---@return purser.Error? err
function Live:kyc_status(params, opts) end

--- L5 `GET /api/v3/uid`
---
--- The user id of the account.
---
--- Permission SPOT_ACCOUNT_READ, weight 1; a read call; it is retried where that may help.
---@param params? {}
---@param opts? purser.CallOptions
---@return purser.record.live_uid? result
---@return purser.Error? err
function Live:uid(params, opts) end

---@class purser.Options
---@field base_url? string  Where the service is. https://; http:// only to this machine. Default: of the profile.
---@field profile? string|table  The signing conventions. Default: "default".
---@field api_key? string  The public key.
---@field secret_key? string|purser.Secret  Its secret. C's copy is wiped by client:close(), a string's copies in Lua are not.
---@field secret_key_file? string  A file that holds the secret alone: it never becomes a Lua string.
---@field secret_key_env? string  An environment variable that holds it: likewise, and the variable is wiped.
---@field credentials? fun(): string, string  Called before each request instead: returns both, so that keys can rotate.
---@field recv_window? integer  Milliseconds a request stays acceptable; at most 60000. Default: the service's 5000.
---@field timeout_ms? integer  For one attempt, connecting included. Default: 10000.
---@field connect_timeout_ms? integer  For connecting and TLS. Default: 3000.
---@field retry? purser.RetryOptions|false  How read calls are retried. Default: 3 attempts.
---@field rate_limit? purser.RateLimitOptions|purser.RateLimit|false  How much is sent. Default: the profile's.
---@field hooks? purser.Hooks  Functions that see every attempt, and every wait for the rate limit. Default: none.
---@field transport? purser.Transport  What sends requests. Default: curl.
---@field clock? fun(): integer  Returns epoch milliseconds for timestamp. Default: the system's.
---@field generate_ids? boolean  Whether Purser makes an id where you give none, so a lost answer can be [reconciled](write/outcomes.md). Default: true.
---@field visibility_delay_ms? integer  How long a new record may be missing from lists; [outcomes.md](write/outcomes.md). Default: 60000.
---@field journal? purser.Journal  Records each write call before it is sent.
---@field account? string  The name under which the journal keeps what this client does. Default: a digest of the key.
---@field guard? purser.GuardOptions  Guard rails.
---@field policy? string  A folder of signed policies for the account.
---@field correct_clock? boolean  Whether code 700003 corrects [the clock](client/options.md#the-clock). Default: true.
---@field proxy? string  URL of a proxy. Default: https_proxy, all_proxy.
---@field ca_file? string  A file of certificates to trust. Default: the system's.
---@field ca_path? string  A directory of certificates; loads faster than one large file. Default: the system's.
---@field ca_pem? string  Certificates to trust, as text.
---@field pinned_key? string  The service's public key must have this hash (sha256//...).
---@field user_agent? string  The User-Agent header. Default: purser/<version>.
---@field max_response_bytes? integer  An answer that is longer is rejected. Default: 16777216.
---@field allow_insecure? boolean  Permits http:// to other machines. Keys and funds are then in the open. Default: false.

---@class purser.CallOptions
---@field timeout_ms? integer  For each attempt of this call. Default: the client's.
---@field recv_window? integer  For this call. Default: the client's.
---@field extra_params? table<string, string|integer|boolean>  Parameters that this version does not know.
---@field key? string  Your name of a write call without an id: with a journal it is made once.
---@field asked? table  The parameters as a person gave them, where a program completed them: asked for again with the same key it is the same call.
---@field equal_since? integer  Epoch ms. With a journal and a key: refuses a transfer where an equal transfer of another key was made since, or may have been.
---@field info? purser.CallInfo  Is filled with http_status, headers (lower-case names), attempts and timings (connect_us, tls_us, first_byte_us, total_us: microseconds from the start, as far as the transport knows them). repeated is true where nothing was sent, as the call was made before.

---@class purser.Event
---@field operation string      such as "wallet.withdraw"
---@field method string
---@field path string           without the query
---@field attempt integer       from 1
---@field duration_us? integer  after: microseconds
---@field http_status? integer  after: when an answer arrived
---@field outcome? "done"|"not_sent"|"rejected"|"unknown"  after
---@field error? purser.Error   after

---@class purser.WaitEvent
---@field operation string
---@field method string
---@field path string       without the query
---@field wait_ms integer   how long the call is going to wait

---@class purser.Hooks
---@field before? fun(event: purser.Event)     before each attempt
---@field after? fun(event: purser.Event)      after each attempt
---@field wait? fun(event: purser.WaitEvent)   before each wait for the rate limit

---@class purser.Transport
---@field send fun(self, request: purser.transport.request): purser.transport.response?, purser.transport.failure?  sends one request and returns its answer
---@field sleep? fun(self: purser.Transport, ms: number)  how it waits between attempts
---@field close? fun(self: purser.Transport)  ends its connections
---@field discard? fun(self: purser.Transport, response: purser.transport.response)  that answer was not believed

---@class purser.CallInfo
---@field http_status? integer
---@field headers? table<string, string>  lower-case names
---@field attempts? integer
---@field timings? { connect_us?: integer, tls_us?: integer, first_byte_us?: integer, total_us?: integer }
---@field intent? purser.Intent  of client:prepare: what client:parse and client:reconcile take
---@field repeated? boolean  nothing was sent: the call was made before, and its result is returned
---@field journal_error? any  the call's end could not be written; journal:recover finds it

---@class purser.Client
---@field broker purser.Broker
---@field sub_account purser.SubAccount
---@field wallet purser.Wallet
---@field live purser.Live
---@field profile table  the conventions in use
local Client = {}

--- Runs the operation of a full name: "wallet.withdraw" as client.wallet:withdraw(params, opts).
---@param name string
---@param params? table
---@param opts? purser.CallOptions
---@return any result
---@return purser.Error|nil err
function Client:call(name, params, opts) end

--- Returns the result of an earlier write call with this key (its id, or `key` of opts) and content, with
--- `info.repeated`; nil where none was made; nil and an error of outcome "unknown" where nobody knows, "not_sent" where
--- the key stands for another call. Sends no write call; client:call asks the same first.
---@param name string
---@param params? table
---@param opts? purser.CallOptions
---@return any result
---@return purser.Error|nil err
function Client:recall(name, params, opts) end

--- Tells if a parameter takes a value. Returns true; or nil, a fault that completes `parameter "x" ...`, and the cure.
---@param name string  full name of the operation
---@param parameter string
---@param value any
---@return true|nil fits
---@return string|nil message
---@return string|nil hint
function Client:check_value(name, parameter, value) end

--- Checks, builds and signs a request without sending it. A journal records a write call as sent: its key is used, and
--- its outcome is looked for. `info.intent` is for client:parse and client:reconcile.
---@param name string  full name of the operation
---@param params? table
---@param opts? purser.CallOptions
---@return purser.Request|nil request
---@return purser.Error|nil err
function Client:prepare(name, params, opts) end

--- Checks a call, and builds its request with `...` for API key and signature. Nothing is sent, recorded or asked.
---@param name string  full name of the operation
---@param params? table
---@param opts? purser.CallOptions
---@return purser.Request|nil request
---@return purser.Error|nil err
function Client:preview(name, params, opts) end

--- Turns the answer to a prepared request into `result | nil, err`.
---@param name string  full name of the operation
---@param status integer  HTTP status
---@param body string
---@param headers? string|table<string, string>  raw header block or map
---@param intent? purser.Intent  `info.intent` of client:prepare: with it an unknown outcome can be reconciled
---@return any result
---@return purser.Error|nil err
function Client:parse(name, status, body, headers, intent) end

--- Finds out what became of a call of unknown outcome, from its error or intent (docs/write/outcomes.md).
---@param unreconciled purser.Error|purser.Intent
---@param options? purser.ReconcileOptions
---@param window? purser.reconcile.Window  of purser.payouts: when its record can have been made
---@return purser.Reconciliation|nil answer
---@return purser.Error|nil err
function Client:reconcile(unreconciled, options, window) end

--- Returns the name of this client in a journal: its option `account`, or a digest of its API key.
---@return string
function Client:account() end

--- Asks if the service is there, unsigned.
---@param opts? purser.CallOptions
---@return true|nil there
---@return purser.Error|nil err
function Client:ping(opts) end

--- Returns the service's time in epoch milliseconds, unsigned.
---@param opts? purser.CallOptions
---@return integer|nil time
---@return purser.Error|nil err
function Client:server_time(opts) end

--- Learns the service's time. Returns the clock's correction in milliseconds.
---@return integer|nil correction_ms
---@return purser.Error|nil err
function Client:sync_clock() end

--- Returns the options that programs on top need.
---@return purser.Settings
function Client:settings() end

--- Returns the journal's plans for a client with the option `policy`, else nil: `purser.approvals` adds and reads them.
--- A plan without signatures lets no call through.
---@return purser.PlansKept|nil
function Client:plans() end

--- Returns the known time of the service in epoch milliseconds, as requests are stamped.
---@return integer
function Client:now() end

--- Sleeps as the client's transport does: other tasks go on, and a simulator's clock moves.
---@param ms integer
function Client:sleep(ms) end

--- Wipes the secret and closes the client's own connections. May be called again.
function Client:close() end

--- Walks a history or list by its full name (docs/client/histories.md).
---@param name string  full name of the operation
---@param params? table  purser.WalkParams, and those of the operation
---@param opts? purser.CallOptions  of each call
---@return purser.Walk
function Client:each(name, params, opts) end

--- Returns the earliest epoch ms of a history; nil without a documented limit.
---@param name string  full name of the operation
---@param now? integer  another time than the client's
---@return integer|nil earliest
function Client:earliest(name, now) end

--- Returns what the rate limit's pools hold now, and what blocks them; nil and an error where the store fails.
---@return purser.Limits|nil limits
---@return purser.Error|nil err
function Client:limits() end

--- Waits until what is read is as requested (docs/desk/receive.md).
---@param options purser.WaitOptions
---@return any value
---@return purser.Error|nil err
function Client:wait_for(options) end

---@class purser
local purser = {}

--- Runs `fn(...)` as a task and returns the results. Outside of a task the loop turns meanwhile.
---@param fn function
---@param ... any  its arguments
---@return any ...
function purser.run(fn, ...) end

--- Starts `fn(...)` as a task, which first runs at the next turn. `join` raises its error, or else the loop's turn.
---@param fn function
---@param ... any  its arguments
---@return purser.task
function purser.spawn(fn, ...) end

--- Waits for a task. Returns the results, or raises the error.
---@param task purser.task
---@return any ...
function purser.join(task) end

--- Runs functions side by side. `results[i]` is the i-th one's first value, `errors[i]` the second. Raises at the end.
---@param list function[]
---@return any[] results
---@return any[] errors
function purser.all(list) end

--- Sleeps for `ms` milliseconds: the running task, or outside of one the thread.
---@param ms integer
function purser.sleep(ms) end

--- Ends a task's request. Its call returns an error at once, whose outcome says whether the request was sent, and is
--- not retried. False where the task waits for no answer.
---@param task purser.task
---@return boolean
function purser.cancel(task) end

--- Makes a rate limit for several clients. Returns nil and an error of kind "config" for senseless options.
---@param options? purser.RateLimitOptions
---@return purser.RateLimit|nil
---@return purser.Error|nil err
function purser.rate_limit(options) end

--- Makes a restricted client of full names, and names with `*` for reads: a write call is granted by its full name
--- alone. A history is granted with its walk (each_...).
---@param client purser.Client
---@param list string[]
---@return purser.RestrictedClient|nil restricted
---@return purser.Error|nil err
function purser.restricted(client, list) end

--- Makes a script's environment: `client`, functions of Lua, and copies of `extras`. A function of the extras is given
--- as it is: the host judges what it lets through.
---@param client purser.RestrictedClient
---@param extras? table<string, any>  further names; they take the place of equal ones
---@return table|nil environment
---@return purser.Error|nil err
function purser.sandbox(client, extras) end

---@class purser.Transports
local Transports = {}

--- Makes the blocking transport.
---@param options? purser.CurlOptions
---@return purser.transport.curl|nil
---@return string|nil message
function Transports.curl(options) end

--- Makes the transport for many requests at once.
---@param options? purser.MultiOptions
---@return purser.transport.multi|nil
---@return string|nil message
function Transports.multi(options) end

--- Makes the transport for coroutines of copas; docs/hosts/hosts.md.
---@param options? table  of purser.transport.multi
---@return table transport
function Transports.copas(options) end

--- Makes a transport on nginx's own sockets.
---@param options? purser.CosocketOptions
---@return purser.nginx.cosocket|nil
---@return string|nil message
function Transports.cosocket(options) end

--- Makes the transport for coroutines of a cqueues loop; docs/hosts/hosts.md.
---@param _ table  of cqueues.new
---@param options? table  of purser.transport.multi
---@return table transport
function Transports.cqueues(_, options) end

--- Returns the function that makes a turn of Purser's tasks in a loop of libuv; docs/hosts/hosts.md.
---@param uv table  luv, vim.uv or vim.loop
---@param transport table  of purser.transport.multi
---@param on_error? (fun(problem: any))
---@return fun() turn
function Transports.luv(uv, transport, on_error) end

--- Makes a transport. Options: those of purser.transport.curl and `max_in_flight` (256); further calls wait for their
--- turn. `http_version` is "auto" unless given.
---@param options? purser.MultiOptions
---@return purser.nginx.openresty|nil
---@return string|nil message
function Transports.openresty(options) end

--- Makes a transport that records the exchanges of `inner`. Options: `file`, the path of a new private file; or
--- `write`, a function of each line.
---@param inner purser.Transport
---@param options { file?: string, write?: (fun(line: string): any, string|nil) }
---@return purser.transport.recorder|nil transport
---@return string|nil message
function Transports.record(inner, options) end

--- Makes a transport out of a recording: the path of a file, or a list of lines.
---@param source string|string[]
---@return purser.transport.replayer|nil transport
---@return string|nil message
function Transports.replay(source) end
