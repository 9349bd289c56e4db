-- SPDX-License-Identifier: MIT
-- The revisions of the Model Context Protocol, newest first, and their differences.
--
--   handshake     `initialize` agrees on the revision, and `ping` exists; without: each request names its revision in
--                 `params._meta`, and `server/discover` exists
--   batches       a line may hold a list of messages
--   annotations   a tool of the list says whether the tool changes anything
--   structured    a result of a tool has `structuredContent` beside the text
--   notes         a progress notice has a `message`
--   marked        each result has `resultType` and the server's name; lists say how long they are good

local M = {}

M.list = {
  { name = "2026-07-28", handshake = false, batches = false, annotations = true, structured = true, notes = true,
    marked = true },
  { name = "2025-11-25", handshake = true, batches = false, annotations = true, structured = true, notes = true },
  { name = "2025-06-18", handshake = true, batches = false, annotations = true, structured = true, notes = true },
  { name = "2025-03-26", handshake = true, batches = true, annotations = true, structured = false, notes = true },
  { name = "2024-11-05", handshake = true, batches = false, annotations = false, structured = false, notes = false },
}

M.names, M.by_name = {}, {}
for i, revision in ipairs(M.list) do
  M.names[i], M.by_name[revision.name] = revision.name, revision
  if revision.handshake and not M.offered then M.offered = revision end
end

-- M.offered is the newest revision with a handshake: the answer to `initialize` for a revision that is not known, and
-- the rules for a request of a client that names no revision at all.

return M
