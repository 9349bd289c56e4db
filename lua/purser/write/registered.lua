-- SPDX-License-Identifier: MIT
-- The gates by name: { option, gate } each. The module fills this table at its start; gates.lua, which a read call does
-- without, asks it.

return {}
