-- SPDX-License-Identifier: MIT
-- A call of every write operation, by its name: the parameters. Each moves 5 USDT, where it moves anything.

local ADDRESS = "TQrY8tryqsYVCYS3MFbtffiPp2ccyn4STm"

return {
  ["broker.create_sub_account"] = { subAccount = "deskdesk1", note = "n" },
  ["broker.create_api_key"] = { subAccount = "deskdesk1", note = "n", permissions = "SPOT_WITHDRAW_WRITE" },
  ["broker.delete_api_key"] = { subAccount = "deskdesk1", apiKey = "k" },
  ["broker.create_deposit_address"] = { coin = "USDT", network = "Tron(TRC20)" },
  ["broker.withdraw"] = { coin = "USDT", network = "Tron(TRC20)", address = ADDRESS, amount = "5" },
  ["broker.transfer"] = { toAccount = "deskdesk1", fromAccountType = "SPOT", toAccountType = "SPOT", asset = "USDT",
    amount = "5" },
  ["broker.enable_futures"] = { subAccount = "deskdesk1" },
  ["sub_account.create_sub_account"] = { subAccount = "deskdesk1", note = "n" },
  ["sub_account.create_api_key"] = { subAccount = "deskdesk1", note = "n", permissions = "SPOT_TRANSFER_WRITE" },
  ["sub_account.delete_api_key"] = { subAccount = "deskdesk1", apiKey = "k" },
  ["sub_account.transfer"] = { fromAccount = "deskdesk1", fromAccountType = "SPOT", toAccountType = "SPOT",
    asset = "USDT", amount = "5" },
  ["wallet.withdraw"] = { coin = "USDT", netWork = "TRX", address = ADDRESS, amount = "5" },
  ["wallet.cancel_withdrawal"] = { id = "w1" },
  ["wallet.create_deposit_address"] = { coin = "USDT", network = "Tron(TRC20)" },
  ["wallet.transfer"] = { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "5" },
  ["wallet.convert"] = { asset = "USDT" },
  ["wallet.internal_transfer"] = { toAccountType = "EMAIL", toAccount = "zed@mail.example", asset = "USDT",
    amount = "5" },
  ["wallet.withdraw_legacy"] = { coin = "USDT", network = "TRX", address = ADDRESS, amount = "5" },
}
