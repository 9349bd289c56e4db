-- SPDX-License-Identifier: MIT
-- All modules that reconciling needs. They are loaded before the first write call is sent: afterwards the host may have
-- no descriptor or file system left, and a call whose outcome is unknown could never be reconciled.

local operations = require "purser.api.operations"
require "purser.api.write_kinds"
require "purser.call.failure"
require "purser.call.hooks"
require "purser.call.rate_limit.blocks"
require "purser.call.record"
require "purser.call.service_time"
require "purser.call.setbacks"
require "purser.call.unsigned"
require "purser.write.reconcile"
require "purser.write.service"
require "purser.util.calendar"
require "purser.codes"
require "purser.util.suggest"

-- The rows of all groups, for the operation that finds a call again may be in another group.
return { rows = operations.list }
