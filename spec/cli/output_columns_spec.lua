-- SPDX-License-Identifier: MIT
-- The columns of each list that a command prints, in their order, and the exit code: programs read CSV by them.

local at_shell = require "at_shell"

local TRON = "TLa2f6VPqDgRE67v1736s7bJ8Ray5wYjU7"

-- { words, the header, exit code }
local lists = {
  { "fleet plan FLEET --secrets SECRETS --csv", "account,what,note,why", 0 },
  { "fleet sweep EMPTY --name x", "key,operation,fromAccount,fromAccountType,toAccount,toAccountType,asset,amount", 0 },
  { "payouts plan LIST --operation wallet.withdraw --csv",
    "line,key,name,operation,amount,asset,network,to,memo,fee,state,message", 0 },
  { "payouts run LIST --operation wallet.withdraw --journal JOURNAL --yes --csv",
    "total,done,waiting,taken,sent,failed,undecided,blocked,dropped", 0 },
  { "payouts status --journal JOURNAL --csv", "total,done,waiting,taken,sent,failed,undecided,blocked,dropped", 0 },
  { "payouts report --journal JOURNAL --csv",
    "key,state,arrival,amount,asset,to,record_id,message,name,candidates", 0 },
  { "journal list --journal JOURNAL --csv", "sent_at,state,operation,key,amount,asset,to,record_id,id", 0 },
  { "journal log --journal JOURNAL --csv", "at,who,tool,reference,outcome", 0 },
  { "journal recover --journal JOURNAL --csv", "outcome,operation,amount,id,reason", 0 },
  { "limits --csv", "pool,capacity,window_ms,used,waiting,waiting_weight,blocked_ms,held_ms", 0 },
  { "operations C2 --csv", "id,command,effect,permission,weight,summary", 0 },
  { "doctor --csv", "state,topic,text,cure", 0 },
  { "doctor --drift --csv", "operation,kind,path,expected,found", 0 },
  { "sync --books sqlite:BOOKS", nil, 0 },
  { "books gaps --books sqlite:BOOKS --csv", "owner,list,from,to,why", 0 },
  { "books deliveries --books sqlite:BOOKS --csv", "receiver,waiting,since,error", 0 },
  { "receive begin --to sqlite:DEPOSITS", nil, 0 },
  { "receive check --to sqlite:DEPOSITS", nil, 0 },
  { "receive deliveries --to sqlite:DEPOSITS", nil, 0 },
}

describe("a list for a program", function()
  it("has its columns in their order, and its exit code", function()
    local at = at_shell({ "--seed", "23" }, { role = "broker", email = "a@example.org", balances = { USDT = "500" } })
    finally(at.stop)
    local made = { FLEET = at.file '{"accounts": [{"name": "columns001", "note": "n"}]}', EMPTY = at.file "{}",
      LIST = at.file("key,coin,network,address,amount\na,USDT,TRX," .. TRON .. ",20\n"), SECRETS = at.file(),
      JOURNAL = at.file(), BOOKS = at.file(), DEPOSITS = at.file() }
    for _, list in ipairs(lists) do
      local words = {}
      for word in list[1]:gmatch "%S+" do words[#words + 1] = word:gsub("%u%u%u%u+", made) end
      local code, out, err = at.run((table.unpack or unpack)(words)) -- luacheck: ignore
      assert.equal(list[3], code, list[1] .. ": " .. err)
      if list[2] then assert.equal(list[2], out:match "^([^\r\n]*)", list[1]) end
    end
  end)
end)
