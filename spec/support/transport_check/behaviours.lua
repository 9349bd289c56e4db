-- SPDX-License-Identifier: MIT
-- The answers of transport_check's hostile service. Each function gets the connection and what is noted of the
-- request's id; it returns "close" to end the connection. `connection` sends, sleeps and resets (service.lua).

local M = {}

--- The text of an answer with a Content-Length.
function M.answer(body, status, headers)
  return ("HTTP/1.1 %s\r\nContent-Type: text/plain\r\n%sContent-Length: %d\r\n\r\n%s"):format(status or "200 OK",
    headers or "", #body, body)
end

--- A body with every byte there is.
M.every_byte = {}
for byte = 0, 255 do M.every_byte[#M.every_byte + 1] = string.char(byte) end
M.every_byte = table.concat(M.every_byte)

M.LARGE = 2 * 1024 * 1024
local FLOOD_PIECES, DRIPS = 3200, 240
local PIECE = ("x"):rep(64 * 1024)

-- Sends one text, and keeps the connection or ends it.
local function says(text, ends)
  return function(connection)
    connection:send(text)
    return ends
  end
end

-- Sends `first`, and then `piece` again and again until the client has gone.
local function floods(first, piece)
  return function(connection, state)
    connection:send(first)
    for _ = 1, FLOOD_PIECES do
      connection:send(piece)
      state.sent = state.sent + #piece
    end
    state.ended = true
    return "close"
  end
end

-- Sends `first`, and then `piece` every 50 ms for 12 seconds.
local function drips(first, piece)
  return function(connection, state)
    connection:send(first)
    for _ = 1, DRIPS do
      connection:send(piece)
      connection:sleep(0.05)
    end
    state.ended = true
    return "close"
  end
end

local CHUNKED = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

M.list = {
  plain = says(M.answer "{}"),
  bytes = says(M.answer(M.every_byte, nil, "X-Check: a b\r\n")),
  large = says(M.answer(("y"):rep(M.LARGE))),
  chunks = says(CHUNKED .. "2\r\n{}\r\n5;x=y\r\nabcde\r\n0\r\nX-Trailer: z\r\n\r\n"),
  interim = says("HTTP/1.1 103 Early Hints\r\nLink: </>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n" .. M.answer "{}"),
  rejection = says(M.answer('{"code":1}', "400 Bad Request")),
  throttled = says(M.answer("", "429 Too Many Requests",
    "Date: Wed, 21 Oct 2026 07:47:37 GMT\r\nRetry-After: Wed, 21 Oct 2026 07:47:44 GMT\r\n")),
  unavailable = says(M.answer("", "503 Service Unavailable")),
  redirect = function(connection, state)
    connection:send(M.answer("", "302 Found", ("Location: /plain/%s0\r\n"):format(state.id)))
  end,

  lost = function() return "close" end,
  reset = function(connection) connection:reset() end,
  cut_status = says("HTTP/1.1 20", "close"),
  cut_header = says("HTTP/1.1 200 OK\r\nContent-Le", "close"),
  cut_body = says("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{}", "close"),
  cut_chunk = says(CHUNKED .. "2\r\n{}\r\n", "close"),
  not_http = says("SSH-2.0-OpenSSH_9.2\r\n", "close"),
  only_body = says('{"id":"1"}', "close"),
  no_length = says("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{\"id\":\"1\"}", "close"),
  two_lengths = says("HTTP/1.1 200 OK\r\nContent-Length: 10\r\nContent-Length: 2\r\n\r\n{\"id\":\"1\"}", "close"),
  broken_chunk = says(CHUNKED .. "zz\r\n{}\r\n0\r\n\r\n", "close"),
  endless_headers = floods("HTTP/1.1 200 OK\r\n", "X-Check: " .. ("x"):rep(8000) .. "\r\n"),
  endless_body = floods("HTTP/1.1 200 OK\r\nContent-Length: 209715200\r\n\r\n", PIECE),
  endless_chunks = floods(CHUNKED, ("%x\r\n%s\r\n"):format(#PIECE, PIECE)),

  silent = function(connection) connection:wait_for_end() end,
  slow_header = drips("HTTP/1.1 200 OK\r\n", "A: b\r\n"),
  slow_body = drips("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n", "x"),
  slow_chunks = drips(CHUNKED, "1\r\nx\r\n"),

  -- An answer, and 30 ms later another one that no request asked for.
  twice = function(connection, state)
    connection:send(M.answer "first")
    connection:sleep(0.03)
    state.ended = true -- also if the client has closed its end, and this send fails
    connection:send(M.answer "ghost")
  end,
  -- One with both in the same bytes.
  twice_at_once = function(connection, state)
    connection:send(M.answer "first" .. M.answer "ghost")
    state.ended = true
  end,
  -- An answer that promises a kept connection, which then ends.
  left = function(connection, state)
    connection:send(M.answer "{}")
    connection:sleep(0.03)
    state.ended = true
    return "close"
  end,
}

--- Answers one question of DNS: every name is 127.0.0.1. A host whose sockets ask a name server is pointed here.
function M.answer_name(names)
  local question, address, port = names:receivefrom()
  local stop = question and question:find("\0", 13, true)
  if not stop then return end
  local kind = question:byte(stop + 2)
  local is_address = kind == 1 -- an A record; others have no answer
  local head = question:sub(1, 2) .. "\129\128\0\1\0" .. (is_address and "\1" or "\0") .. "\0\0\0\0"
  local record = is_address and "\192\12\0\1\0\1\0\0\0\60\0\4\127\0\0\1" or ""
  names:sendto(head .. question:sub(13, stop + 4) .. record, address, port)
end

return M
