-- SPDX-License-Identifier: MIT
--- Watches over an account in production: alerts, once per change, and numbers for Prometheus.
--- See docs/desk/in-production.md.

local alerts = require "purser.desk.monitor.alerts"
local metrics = require "purser.desk.monitor.metrics"

---@class purser.modules.monitor
local M = {}

--- Makes the alerts of an account: each change of a condition is told once, across restarts.
---@param client purser.Client
---@param options purser.AlertOptions
---@return purser.Alerts|nil alerts, purser.Error|nil err
M.alerts = alerts.new

--- Makes counters of a program's requests and waits, for the hooks of its clients.
---@return purser.Metrics metrics
M.metrics = metrics.new

return M
