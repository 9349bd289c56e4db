-- SPDX-License-Identifier: MIT
-- Facts of the rows of operations beyond the interface document (contract.lua), written down once more, so that a slip
-- in a row shows: the kinds of the parameters in their order, windows, paging, forms of results, what moves, and how an
-- unknown outcome is found out; and all of the live operations, which the document lacks. The form is that of
-- spec/support/row_facts.lua.

return {
  ["broker.transfer_history"] = [[
    params client_id:string text:string text:string text:string text:string time:string time:string count:string
      count:string
    signer main
    paging {id=tranId iterator=transfer page=page page_size=500 size=limit time_member=timestamp}
    result {counts={totalCount=either} list=sub_account_transfer wrappers={result}}
  ]],
  ["broker.create_sub_account"] = [[
    params text:string text:string md5:string:funds_password
    signer main
    result {record=created_sub_account required_member=subAccount}
    reconcile {client_id=subAccount lookup=broker.list_sub_accounts narrow={subAccount} strategy=name
      time_member=timestamp}
  ]],
  ["broker.list_sub_accounts"] = [[
    params text:string count:string count:string
    signer main
    paging {id=subAccount iterator=sub_account page=page page_size=200 size=limit}
    result {list=broker_sub_account}
  ]],
  ["broker.sub_account_status"] = [[
    params text:string
    signer main
    result {record=sub_account_status required_member=status}
  ]],
  ["broker.create_api_key"] = [[
    params text:string permissions:string:broker_permissions ips:string text:string
    signer main
    result {record=api_key required_member=apiKey}
    reconcile {accounts=broker.list_sub_accounts client_id=note copy_params={subAccount}
      delete_operation=broker.delete_api_key lookup=broker.list_api_keys match_on={note} strategy=token
      time_member=createTime}
  ]],
  ["broker.list_api_keys"] = [[
    params text:string
    signer main
    result {list=api_key lone=apiKey wrappers={subAccount}}
  ]],
  ["broker.delete_api_key"] = [[
    params text:string text:string
    signer main
    result {record=named_sub_account required_member=subAccount}
    reconcile {accounts=broker.list_sub_accounts client_id=apiKey copy_params={subAccount}
      lookup=broker.list_api_keys strategy=state target_state=absent}
  ]],
  ["broker.create_deposit_address"] = [[
    params text:string text:string
    signer sub
    result {record=deposit_address required_member=address}
    reconcile {client_id=network copy_params={coin} lookup=broker.deposit_addresses strategy=state
      target_state=present}
  ]],
  ["broker.deposit_addresses"] = [[
    params text:string
    signer sub
    result {list=deposit_address}
  ]],
  ["broker.deposit_history"] = [[
    params text:string named_status:string:deposit_states time:string time:string count:string count:string
    signer sub
    window {default_days=10}
    paging {iterator=deposit key={coin network txId address memo amount insertTime} page=page page_size=1000
      size=limit time_member=insertTime unstable_filters={status}}
    result {list=sub_account_deposit}
  ]],
  ["broker.all_deposit_history"] = [[
    params text:string named_status:string:deposit_states time:string time:string count:string count:string
    signer main
    window {default_days=3 from_midnight=true retention_days=3}
    paging {iterator=sub_account_deposit key={coin network txId address memo amount insertTime} page=page
      page_size=1000 size=limit time_member=insertTime unstable_filters={status}}
    result {list=deposit}
  ]],
  ["broker.withdraw"] = [[
    params text:string text:string address:string amount:string md5:string:funds_password text:string
    signer sub
    result {record=withdrawal_id required_member=id}
    moves {address=address amount=amount asset=coin has_memo_behind=true network=network to=address}
    reconcile {lookup=wallet.withdrawal_history match_on={coin address amount remark} strategy=nothing
      time_member=applyTime}
  ]],
  ["broker.transfer"] = [[
    params client_id:string text:string text:string text:string text:string text:string amount:string
    signer main
    result {record=transfer_id required_member=tranId}
    moves {amount=amount asset=asset sub_accounts={fromAccount toAccount} to=sub_account}
    reconcile {accounts=broker.list_sub_accounts client_id=clientTranId copy_params={fromAccount toAccount
      fromAccountType toAccountType} failed_status=FAILED generated_id=true lookup=broker.transfer_history
      match_on={asset amount} narrow={clientTranId} strategy=client_id time_member=timestamp}
  ]],
  ["broker.enable_futures"] = [[
    params text:string
    signer main
    result {record=futures_state required_member=subAccount}
    reconcile {strategy=repeat}
  ]],
  ["broker.rebates"] = [[
    params time:string time:string count:string count:string
    signer main
    paging {iterator=rebate page=page page_size=100 size=pageSize}
    result {counts={totalPageNum=pages totalRecords=records} page=rebate}
  ]],
  ["sub_account.create_sub_account"] = [[
    params new_name:string text:string
    signer main
    result {record=created_sub_account required_member=subAccount}
    reconcile {client_id=subAccount lookup=sub_account.list_sub_accounts narrow={subAccount} strategy=name
      time_member=createTime}
  ]],
  ["sub_account.list_sub_accounts"] = [[
    params text:string flag:string count:int count:int
    signer main
    paging {id=subAccount iterator=sub_account page=page page_size=200 size=limit unstable_filters={isFreeze}}
    result {list=sub_account wrappers={subAccounts}}
  ]],
  ["sub_account.create_api_key"] = [[
    params text:string text:string permissions:string:permissions ips:string
    signer main
    result {record=api_key required_member=apiKey}
    reconcile {accounts=sub_account.list_sub_accounts client_id=note copy_params={subAccount}
      delete_operation=sub_account.delete_api_key lookup=sub_account.list_api_keys match_on={note} strategy=token
      time_member=createTime}
  ]],
  ["sub_account.list_api_keys"] = [[
    params text:string
    signer main
    result {list=api_key wrappers={subAccount}}
  ]],
  ["sub_account.delete_api_key"] = [[
    params text:string text:string
    signer main
    result {record=named_sub_account required_member=subAccount}
    reconcile {accounts=sub_account.list_sub_accounts client_id=apiKey copy_params={subAccount}
      lookup=sub_account.list_api_keys strategy=state target_state=absent}
  ]],
  ["sub_account.transfer"] = [[
    params client_id:string text:string text:string choice:string:account_types choice:string:account_types
      text:string amount:string
    signer main
    result {record=transfer_id required_member=tranId}
    moves {amount=amount asset=asset sub_accounts={fromAccount toAccount} to=sub_account}
    reconcile {accounts=sub_account.list_sub_accounts client_id=clientTranId copy_params={fromAccount toAccount
      fromAccountType toAccountType} failed_status=FAILED generated_id=true lookup=sub_account.transfer_history
      match_on={asset amount} narrow={clientTranId} strategy=client_id time_member=timestamp}
  ]],
  ["sub_account.transfer_history"] = [[
    params client_id:string text:string text:string choice:string:account_types choice:string:account_types
      time:string time:string count:string count:string
    signer main
    paging {id=tranId iterator=transfer page=page page_size=500 size=limit time_member=timestamp}
    result {counts={totalCount=either} list=sub_account_transfer wrappers={result}}
  ]],
  ["sub_account.balances"] = [[
    params text:string choice:string:account_types
    signer main
    result {list=balance wrappers={balances}}
  ]],
  ["wallet.coins"] = [[
    params
    result {list=coin}
  ]],
  ["wallet.withdraw"] = [[
    params text:string own_id:string text:string address:string address:string memo:string amount:string text:string
    result {record=withdrawal_id required_member=id}
    moves {address=address amount=amount asset=coin contract=contractAddress memo=memo network=netWork to=address}
    reconcile {client_id=withdrawOrderId generated_id=true lookup=wallet.withdrawal_history match_on={coin address
      amount memo} strategy=client_id time_member=applyTime}
  ]],
  ["wallet.cancel_withdrawal"] = [[
    params text:string
    result {record=withdrawal_id required_member=id}
    reconcile {client_id=id lookup=wallet.withdrawal_history strategy=state target_state=cancelled
      time_member=applyTime}
  ]],
  ["wallet.deposit_history"] = [[
    params text:string status:string:deposit_states time:long time:long count:int
    window {default_days=7 max_window_days=7 retention_days=90}
    paging {iterator=deposit key={coin network txId address memo amount insertTime} page_size=1000 size=limit
      time_member=insertTime unstable_filters={status}}
    result {list=deposit}
  ]],
  ["wallet.withdrawal_history"] = [[
    params text:string status:string:withdrawal_states count:int time:long time:long
    window {default_days=7 max_window_days=7 retention_days=90}
    paging {id=id iterator=withdrawal page_size=1000 size=limit time_member=applyTime unstable_filters={status}}
    result {list=withdrawal}
  ]],
  ["wallet.create_deposit_address"] = [[
    params text:string text:string
    result {record=deposit_address required_member=address}
    reconcile {client_id=network copy_params={coin} lookup=wallet.deposit_addresses narrow={network} strategy=state
      target_state=present}
  ]],
  ["wallet.deposit_addresses"] = [[
    params text:string text:string
    result {list=deposit_address}
  ]],
  ["wallet.withdrawal_addresses"] = [[
    params text:string count:number count:number
    paging {iterator=withdrawal_address key={coin network address addressTag memo} page=page page_size=100
      size=limit}
    result {counts={totalPageNum=pages totalRecords=records} page=withdrawal_address}
  ]],
  ["wallet.transfer"] = [[
    params choice:string:account_types choice:string:account_types text:string amount:string
    result {record=transfer_id required_member=tranId}
    moves {amount=amount asset=asset to=own}
    reconcile {copy_params={fromAccountType toAccountType} failed_status=FAILED lookup=wallet.transfer_history
      match_on={fromAccountType toAccountType asset amount} strategy=match time_member=timestamp}
  ]],
  ["wallet.transfer_history"] = [[
    params choice:string:account_types choice:string:account_types time:long time:long count:int count:int
    window {default_days=7 retention_months=6}
    paging {id=tranId iterator=transfer page=page page_size=100 size=size time_member=timestamp}
    result {counts={total=records} rows=wallet_transfer}
  ]],
  ["wallet.get_transfer"] = [[
    params text:string
    window {retention_months=6}
    result {record=wallet_transfer required_member=tranId}
  ]],
  ["wallet.convertible_balances"] = [[
    params
    result {list=convertible_balance}
  ]],
  ["wallet.convert"] = [[
    params coins:string
    result {record=conversion required_member=totalConvert}
    moves {asset=asset to=none}
    reconcile {lookup=wallet.conversion_history match_on={asset} second_list=wallet.convertible_balances
      strategy=conversion time_member=convertTime}
  ]],
  ["wallet.conversion_history"] = [[
    params time:long time:long count:int count:int
    paging {iterator=conversion page=page page_size=1000 size=limit time_member=convertTime}
    result {counts={totalPageNum=pages totalRecords=records} page=conversion_batch}
  ]],
  ["wallet.internal_transfer"] = [[
    params choice:string:identifier_types text:string area_code:string text:string amount:string
    rules {area_code_with_mobile account_of_type}
    result {record=transfer_id required_member=tranId}
    moves {account=toAccount account_type=toAccountType amount=amount area_code=areaCode asset=asset to=user}
    reconcile {failed_status=FAILED lookup=wallet.internal_transfer_history match_on={toAccountType toAccount asset
      amount} strategy=match time_member=timestamp}
  ]],
  ["wallet.internal_transfer_history"] = [[
    params time:long time:long count:int count:int text:string
    window {default_days=7}
    paging {id=tranId iterator=internal_transfer page=page page_size=100 size=limit time_member=timestamp}
    result {counts={totalPageNum=pages totalRecords=records} page=internal_transfer}
  ]],
  ["wallet.withdraw_legacy"] = [[
    params text:string own_id:string text:string address:string memo:string amount:string text:string
    deprecated wallet.withdraw
    result {record=withdrawal_id required_member=id}
    moves {address=address amount=amount asset=coin memo=memo network=network to=address}
    reconcile {client_id=withdrawOrderId generated_id=true lookup=wallet.withdrawal_history match_on={coin address
      amount memo} strategy=client_id time_member=applyTime}
  ]],
  ["live.account"] = [[
    GET /api/v3/account SPOT_ACCOUNT_READ 10 read
    params
    result {record=live_account required_member=accountType}
  ]],
  ["live.api_key"] = [[
    GET /api/v3/apiKeyInfo SPOT_ACCOUNT_READ 1 read
    params accessKey!:text:string
    result {record=live_api_key required_member=accessKey}
  ]],
  ["live.change_api_key"] = [[
    POST /api/v3/apiKeyInfo SPOT_ACCOUNT_WRITE 1 change
    params apiKey!:text:string ipWhiteList!:ips:string:20 note:text:string
    result {record=live_api_key required_member=accessKey}
    reconcile {strategy=repeat}
  ]],
  ["live.kyc_status"] = [[
    GET /api/v3/kyc/status SPOT_ACCOUNT_READ 1 read
    params
    result {record=live_kyc_status required_member=status}
  ]],
  ["live.uid"] = [[
    GET /api/v3/uid SPOT_ACCOUNT_READ 1 read
    params
    result {record=live_uid required_member=uid}
  ]],
}
