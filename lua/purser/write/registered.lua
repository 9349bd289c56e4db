-- SPDX-License-Identifier: MIT
-- The gates by name: each with the option of purser.new that asks for it. The module fills this table at its start;
-- gates.lua, which a read call does without, asks it.

---@type table<string, { option: string, gate: purser.Gate }>

return {}
