-- SPDX-License-Identifier: MIT
-- Holds that one file makes a table of the journal, and that its name stands in that file's folder alone. Who
-- needs a row of another folder's table calls that folder.
--
-- Prints what is named elsewhere and closes with `N passed, N failed`; `lua tools/tables.lua`, and `make lint` runs it.

local whole = dofile "tools/whole_files.lua"

-- Tables that are named elsewhere still, and where: these lines go, and no line comes.
local elsewhere = {
  ["lua/purser/desk/payouts/queue.lua"] = "purser_calls", -- a payment's stage stands in its call's row
  ["lua/purser/desk/payouts/runs.lua"] = "purser_calls",
  ["lua/purser/desk/payouts/add.lua"] = "purser_calls", -- a long list is moved there by one statement
  ["lua/purser/desk/payouts/history_check.lua"] = "purser_meta",
  ["lua/purser/desk/approvals/approval_rows.lua"] = "purser_calls",
  ["lua/purser/client/util/database/commits.lua"] = "purser_generations purser_meta", -- whether a journal was put back
  ["lua/purser/write/journal/schema.lua"] = "purser_marks", -- a witness's file that is given as the journal
}

local function folder_of(path) return path:match "^lua/purser/desk/%l+" or path:match "^lua/purser/%l+" end

local texts, owners, makers = {}, {}, {}
local passed, failed = 0, 0
for _, path in ipairs(whole.lines_of "find lua -name '*.lua' ! -name meta.lua") do
  local lines = {}
  for line in io.lines(path) do
    lines[#lines + 1] = line:gsub("^%s*%-%-.*", ""):gsub("%s%-%-%s.*", "")
  end
  texts[path] = table.concat(lines, "\n")
  for name in texts[path]:gsub("IF NOT EXISTS ", ""):gmatch "CREATE TABLE (purser_[%l_]+)" do
    if makers[name] and makers[name] ~= path then
      failed = failed + 1
      print(("tables: %s and %s both make %s"):format(path, makers[name], name))
    end
    owners[name], makers[name] = folder_of(path), path
  end
end

for path, text in pairs(texts) do
  for name, owner in pairs(owners) do
    -- a name that ends in _ is the beginning of several
    local is_named = (" " .. text .. " "):find("[^%w_]" .. name .. (name:find "_$" and "" or "[^%w_]"))
    if is_named and folder_of(path) ~= owner and not (elsewhere[path] or ""):find(name, 1, true) then
      failed = failed + 1
      print(("tables: %s names %s, which belongs to %s"):format(path, name, owner))
    elseif is_named then
      passed = passed + 1
    end
  end
end
print(("%d passed, %d failed"):format(passed, failed))
os.exit(failed == 0 and 0 or 1)
