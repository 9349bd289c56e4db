-- SPDX-License-Identifier: MIT
-- What a parameter is, where its row says no more than its kind: for help texts and the pages of the operations.

return {
  address = "where the withdrawal goes", asset = "such as USDT", clientTranId = "your own id of the transfer",
  coin = "such as USDT", contractAddress = "contract of the coin on the network", remark = "a remark of yours",
  isFreeze = "only those that are frozen, or only those that are not", tranId = "id of the transfer",
}
