-- SPDX-License-Identifier: MIT
-- `purser approve PLAN --key FILE`: shows a plan, has the largest sum typed, and lets `ssh-keygen` sign.

local approvals = require "purser.cli.approvals"
local connection = require "purser.cli.connection"
local core = require "purser.core"
local credentials = require "purser.cli.credentials"
local files = require "purser.client.util.files"
local json = require "purser.json"
local lazy = require "purser.client.util.lazy"
local plan_text = require "purser.desk.approvals.plan_text"
local report = require "purser.cli.report"
local signers = require "purser.desk.approvals.signers"
local sshsig = require "purser.desk.approvals.sshsig"
local terminal = require "purser.cli.terminal"
local values = require "purser.cli.values"
local decimal = lazy "purser.decimal"

local M = {}

function M.grammar()
  return {
    text = "Read a plan, and sign it with `ssh-keygen -Y sign`. The signature is PLAN.NAME.sig.\n"
      .. "What you signed before is kept in a file of yours; what is not in it is shown as new.",
    arguments = { { "plan", "The file of the plan.", reads = "plan" } },
    { "Options",
      { "--key", "<file>", "Your key, or its .pub where an agent or a token has it (ssh-ed25519, sk-ssh-ed25519).",
        required = true },
      { "--name", "<name>", "Yours, for the name of the file; without it USER." },
      { "--withdraw", "Sign that the plan is not to be paid any more: one person does, for good." },
      { "--made", "Sign that you made it: for policies that ask for the maker's signature." },
      { "--sum", "<amount>", "The largest sum of the plan, or its rows where it moves nothing; else you are asked." },
      { "--records", "<file>", "What you signed before; without it ~/.purser-signed." } },
    connection.messages,
  }
end

--- Lets ssh-keygen sign a private copy of a text: the file may have been exchanged since the text was shown.
function M.sign(text, key, namespace, target)
  local copy = os.tmpname()
  report.must(files.replace(copy, text))
  local pipe = assert(io.popen(("ssh-keygen -Y sign -f %s -n %s < %s"):format(values.shell_word(key), namespace,
    values.shell_word(copy))))
  local armoured = pipe:read "*a"
  pipe:close()
  os.remove(copy)
  if armoured == "" then report.bad_input "ssh-keygen did not sign; nothing was written" end
  local signature, is_good, problem = sshsig.read(armoured), nil, nil
  if signature then is_good, problem = sshsig.verify(signature, namespace, text) end
  if problem then report.bad_input("the signature could not be checked: %s", problem) end
  if not is_good then
    report.bad_input "the signature is none that Purser takes; make a key with `ssh-keygen -t ed25519`"
  end
  local before = files.read(target)
  if before and before ~= armoured then report.bad_input("%s is another signature; give --name", target) end
  report.must(files.replace(target, armoured))
end

-- Has the largest sum of a plan typed; the number of rows where they move nothing, such as a new API key.
local function confirm(options, head)
  local largest, what = head.rows, "number of rows"
  for each, sum in pairs(head.sums) do
    local name, order = "sum of " .. each, decimal(sum):compare(largest)
    if what == "number of rows" or order > 0 or order == 0 and name < what then largest, what = sum, name end
  end
  local typed = options.sum
  if not typed then
    if not terminal.can_ask() then report.bad_input "approve: there is no terminal to ask on; give --sum" end
    typed = terminal.answer(("Type the %s to sign: "):format(what))
  end
  local amount = decimal(typed or "")
  if not amount or not amount:eq(largest) then report.bad_input("that is not the %s; nothing was signed", what) end
end

local function remember(path, plan)
  local lines = {}
  for i, row in ipairs(plan.rows) do
    row.at, row.base_url = core.now_ms(), plan.head.base_url
    lines[i] = json.encode(row) .. "\n"
  end
  return files.replace(path, approvals.read_records(path) .. table.concat(lines))
end

function M.start(options)
  local text = approvals.read(options.plan)
  local plan, problem = plan_text.read(text)
  if not plan then report.bad_input("%s: %s; `purser payouts plan` writes one", options.plan, problem) end
  local home = credentials.home()
  options.records = options.records or home and home .. "/.purser-signed"
  approvals.show(options, text)
  confirm(options, plan.head)
  local kind = options.withdraw and "withdraw" or options.made and "made" or "approve"
  local target = ("%s.%s%s.sig"):format(options.plan, options.name or os.getenv "USER" or "signed",
    kind ~= "approve" and "." .. kind or "")
  M.sign(text, options.key, signers.NAMESPACES[kind], target)
  if kind == "approve" and not (options.records and remember(options.records, plan)) then
    report.say("%s: the next plan shows these as new", options.records and options.records .. " cannot be written"
      or "HOME is no absolute path, so nothing is remembered")
  end
  report.note("signed: %s; the payer adds it with `purser approvals add %s %s`", target, options.plan, target)
  return report.DONE
end

return M
