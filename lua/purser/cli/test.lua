-- SPDX-License-Identifier: MIT
-- `purser test -- COMMAND`: a program against the simulator, with each fault; see docs/testing/simulator.md.

local connection = require "purser.cli.connection"
local core = require "purser.core"
local output = require "purser.cli.output"
local purser = require "purser"
local report = require "purser.cli.report"
local terminal = require "purser.cli.terminal"

local M = {}

local TITLES = { "fault", "call", "starts", "exit", "books" }

function M.grammar()
  return {
    text = "Run a program against the simulator, once as it is and once for each fault at each of its write calls (a "
      .. "lost answer, a record that comes late, 429, a kill), and tell where it paid twice, or did not pay though it "
      .. "ended with 0. The program finds its service in PURSER_BASE_URL, PURSER_API_KEY and PURSER_SECRET_KEY, its "
      .. "account in PURSER_ACCOUNT, and in PURSER_TEST_FOLDER a folder that it keeps between its starts; "
      .. "PURSER_JOURNAL is a file in it. It inherits PATH and nothing else, and reaches no other service. Where it "
      .. "was killed it is started again until it ends with 0, at most 3 times.",
    arguments = { { "command", "The program and its words, after --.", many = true } },
    epilog = "Example: purser test -- lua5.4 pay.lua\nIt ends with 1 where a run was wrong.",
    { "Options",
      { "--seed", "<n>", "Seed of the simulator (1)." },
      { "--profile", "<name>", "Conventions of the service, as in purser.new." },
      { "--balance", "<name=value>", "What the account has, as COIN=AMOUNT (USDT, BTC, ETH and MX).", many = true } },
    output.group(TITLES), connection.messages,
  }
end

function M.start(options)
  if not options.command[1] then
    report.bad_input "test: there is no program; give one after --, such as: purser test -- lua5.4 pay.lua"
  end
  if not pcall(require, "purser.httpd") then
    report.bad_input "test: purser.httpd is missing: build it with libmicrohttpd"
  end
  local balances, show, clear = {}, terminal.progress_line()
  for _, pair in ipairs(options.balance) do
    if not core.decimal(pair[2]) then report.bad_input("--balance takes COIN=AMOUNT, not %q", pair[2]) end
    balances[pair[1]] = pair[2]
  end
  local runs, message = purser.sim.rehearse(options.command, { seed = options.seed, profile = options.profile,
    balances = next(balances) and balances or nil,
    on_run = function(run) show(("%s, write call %d: %s"):format(run.fault, run.at, run.wrong or "right")) end })
  clear()
  if not runs then report.bad_input("test: %s", message) end
  local records, wrong = {}, 0
  for i, run in ipairs(runs) do
    records[i] = { fault = run.fault, call = run.at > 0 and run.at or nil, starts = run.starts, exit = run.code,
      books = run.wrong or "right" }
    wrong = wrong + (run.wrong and 1 or 0)
  end
  report.write(output.rows(TITLES, records, options), options.raw)
  report.note("%d of %d runs were wrong", wrong, #runs)
  return wrong > 0 and report.REJECTED or report.DONE
end

return M
