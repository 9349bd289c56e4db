-- SPDX-License-Identifier: MIT
local http1 = require "purser.client.transport.http1"

local function request(changes)
  local one = { method = "POST", base_url = "http://127.0.0.1:8080", target = "/a?b=c", headers = { A = "1" }, body =
    "x" }
  for name, value in pairs(changes or {}) do one[name] = value end
  return one
end

describe("the bytes of a request", function()
  it("are exactly what HTTP/1.1 asks for", function()
    assert.equal("POST /a?b=c HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nA: 1\r\nUser-Agent: purser\r\nContent-Length: 1\r\n"
      .. "Connection: close\r\n\r\nx", http1.request(request()))
    assert.equal("GET /a?b=c HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nUser-Agent: me\r\n\r\n",
      http1.request(request { method = "GET", body = "", headers = { ["User-Agent"] = "me" } }, true))
    assert.matches("Content%-Length: 0\r\n", http1.request(request { method = "PUT", body = "" }))
    assert.matches("^DELETE /p/q/a%?b=c ", http1.request(request { method = "DELETE", base_url = "http://h/p/q//" }))
  end)

  it("are not written for what two readers could understand in two ways", function()
    for _, wrong in ipairs {
      { method = "TRACE" }, { method = "GET / HTTP/1.1\r\nX" }, { target = "a" }, { target = "/a b" }, { target =
      "/a\r\nB: c" },
      { target = "/a\0b" }, { target = "/a#b" }, { target = "/\195\164" }, { target = 1 }, { body = 1 },
      { headers = { ["A\r\nB"] = "1" } }, { headers = { A = "1\r\nB: 2" } }, { headers = { A = "1\0" } },
      { headers = { ["content-length"] = "5" } }, { headers = { ["Transfer-Encoding"] = "chunked" } },
      { headers = { HOST = "x" } }, { headers = { Connection = "x" } }, { headers = { [""] = "x" } }, { headers =
      { A = 1 } },
      { headers = { Expect = "100-continue" } }, { headers = { "A" } }, { headers = { ["A: b"] = "1" } },
      { headers = { Key = "1", kEY = "2" } }, { headers = { Host = "a", host = "b" } },
      { base_url = "ftp://h" }, { base_url = "http://" }, { base_url = "http://a@h" }, { base_url = "http://h:0" },
      { base_url = "http://h:65536" }, { base_url = "http://h:1x" }, { base_url = "http://h?x" }, { base_url =
      "http://h\n" },
      { base_url = "http://[::1" }, { base_url = "http://h:1:2" }, { base_url = false },
    } do
      local bytes, message = http1.request(request(wrong))
      assert.is_nil(bytes, bytes)
      assert.equal("string", type(message))
    end
  end)

  it("know the parts of a base URL", function()
    assert.same({ secure = true, host = "api.test", port = 443, authority = "api.test", prefix = "" },
      http1.url "https://api.test")
    assert.same({ secure = false, host = "::1", port = 81, authority = "[::1]:81", prefix = "/p" },
      http1.url "http://[::1]:81/p/")
  end)
end)

-- Feeds a text whole, then byte by byte; both must come to the same. Returns what became of it.
local function read(text, options, ends)
  local results = {}
  for _, size in ipairs { math.max(#text, 1), 1, 7 } do
    local reader = http1.reader(options)
    local whole, message = false, nil
    for at = 1, #text, size do
      whole, message = reader:feed(text:sub(at, at + size - 1))
      if whole == nil then break end
    end
    if ends and not message then whole, message = reader:finish() end
    local response = reader:response()
    results[#results + 1] = ("%s %s %s %s %s"):format(tostring(whole), tostring(message), tostring(reader.reusable),
      response and response.status or "-", response and response.body or "-")
  end
  assert.equal(results[1], results[2])
  assert.equal(results[1], results[3])
  return results[1]
end

local function answer(head, body, status)
  return "HTTP/1.1 " .. (status or "200 OK") .. "\r\n" .. head .. "\r\n" .. (body or "") -- may hold a NUL
end

it("writes a whole body, zero bytes included, on each Lua", function()
  local one = request()
  one.body, one.method = "a\0b=ccccc", "POST"
  assert.equal("a\0b=ccccc", http1.request(one):match "\r\n\r\n(.*)$")
end)

describe("the reader of an answer", function()
  it("reads an answer of a length or in chunks, and none to the end of the connection", function()
    assert.equal("true nil true 200 {}", read(answer("Content-Length: 2\r\n", "{}")))
    assert.equal("true nil true 200 ", read(answer "Content-Length: 0\r\n"))
    assert.equal("true nil true 200 {}x", read(answer("Transfer-Encoding: chunked\r\n",
      "2;ext=\"a\"\r\n{}\r\n01\r\nx\r\n0\r\nTrailer: y\r\n\r\n")))
    for _, head in ipairs { "A: b\r\n", "Connection: close\r\n" } do
      assert.equal("nil the answer has no length, and the end of a connection is no certain end false - -",
        read(answer(head, "{}"), nil, true))
    end
    assert.equal("true nil true 204 ", read(answer("A: b\r\n", "", "204 No Content")))
    assert.equal("true nil true 304 ", read(answer("Content-Length: 0\r\n", "", "304 Not Modified")))
    assert.equal("true nil false 200 ", read("HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n"))
    assert.equal("true nil true 200 ", read("HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n"))
    assert.equal("true nil false 200 ", read(answer "Content-Length: 0\r\nconnection: Keep-Alive, CLOSE\r\n"))
  end)

  it("passes over interim answers, and gives the headers of the last", function()
    local reader = http1.reader()
    assert.is_true(reader:feed(answer("Link: a\r\n", "", "103 Early Hints") .. answer("", "", "100 Continue")
      .. answer("Date: d\r\nContent-Length: 1\r\n", "x")))
    assert.same({ status = 200, body = "x", http_version = "1.1",
      headers = "HTTP/1.1 200 OK\r\nDate: d\r\nContent-Length: 1\r\n\r\n" }, reader:response())
    assert.matches("interim", read(answer("", "", "101 Switching Protocols")))
    assert.matches("interim", read(answer("Content-Length: 1\r\n", "", "100 Continue")))
    assert.matches("interim", read(answer("", "", "100 Continue"):rep(17)))
    assert.is_true(http1.reader():feed(answer("", "", "100 Continue"):rep(16) .. answer("Content-Length: 0\r\n", "")))
  end)

  it("does not take what two readers could understand in two ways", function()
    for _, head in ipairs {
      "Content-Length: 2\r\nContent-Length: 2\r\n", "Content-Length: 2\r\ncontent-length: 3\r\n",
      "Content-Length: 2, 2\r\n",
      "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n", "Transfer-Encoding: chunked\r\nContent-Length: 2\r\n",
      "Transfer-Encoding: gzip, chunked\r\n", "Transfer-Encoding: identity\r\n",
      "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "Transfer-Encoding:\r\n",
      "Content-Length: +2\r\n", "Content-Length: -2\r\n", "Content-Length: 0x2\r\n", "Content-Length:\r\n",
      "Content-Length: 1e1\r\n", "Content-Length: 9999999999999999\r\n", "Content-Length : 2\r\n",
      "A: b\r\n c\r\nContent-Length: 2\r\n", "A b\r\n", ": b\r\n", "A: b\nContent-Length: 2\r\n", "A: b\rc\r\n",
      "A: b\0\r\n", "A(b: c\r\nContent-Length: 2\r\n", "A\127: c\r\nContent-Length: 2\r\n",
      "\195\164: c\r\nContent-Length: 2\r\n", "A,b: c\r\nContent-Length: 2\r\n",
    } do
      assert.matches("^nil the answer", (read(answer(head, "{}")):gsub("^nil a [lh]%l+ of ", "nil ")), 1, nil, head)
    end
  end)

  it("does not take what is not HTTP/1", function()
    for _, text in ipairs { "{}\r\n", "SSH-2.0-x\r\n", "HTTP/2 200\r\n", "HTTP/1.1 2x0 OK\r\n", "HTTP/1.1 099 x\r\n",
      "HTTP/1.1 600 x\r\n", "HTTP/1.1  200 OK\r\n", "HTTP/1.1 2000 OK\r\n", " HTTP/1.1 200 OK\r\n", "\r\n\r\n",
      "HTTP/1.1 200 OK\n", "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" } do
      assert.matches("^nil ", read(text), 1, nil, text)
    end
  end)

  it("does not take broken chunks", function()
    for _, body in ipairs { "x\r\n", "\r\n", "2\r\n{}x\r\n", "2\r\n{}\n", " 2\r\n{}\r\n", "2 3\r\n", "-2\r\n",
      "0x2\r\n",
      ("f"):rep(13) .. "\r\n", "2\n{}\r\n", "0\r\nA\r\n\r\n" } do
      assert.matches("^nil ", read(answer("Transfer-Encoding: chunked\r\n", body)), 1, nil, body)
    end
  end)

  it("says how many bytes surely belong to the answer, for sockets that wait for all they are asked for", function()
    local head = "HTTP/1.1 200 OK\r\n"
    for _, text in ipairs {
      head .. "Content-Length: 0\r\n\r\n", head .. "Content-Length: 20\r\n\r\n" .. ("x"):rep(20),
      head .. "Transfer-Encoding: chunked\r\n\r\n9;a=b\r\n123456789\r\n1\r\nx\r\n0\r\nA: b\r\n\r\n",
      "HTTP/1.1 204 Nothing\r\n\r\n",
    } do
      local reader, at, whole, longest = http1.reader(), 1, false, 0
      while not whole do
        local count = reader:needs(7)
        assert.is_true(count >= 1 and at + count - 1 <= #text, text)
        longest = math.max(longest, count)
        whole = reader:feed(text:sub(at, at + count - 1))
        assert.is_boolean(whole, text)
        at = at + count
      end
      assert.equal(#text + 1, at)
      assert.equal(#reader:response().body > 0 and 7 or 1, longest)
    end
  end)

  it("knows that an answer broke off", function()
    assert.matches("^nil the connection ended before an answer came", read("", nil, true))
    for _, text in ipairs { "H", "HTTP/1.1 200 OK\r\n", answer "A: b", answer("Content-Length: 3\r\n", "{}"),
      answer("Transfer-Encoding: chunked\r\n", "2\r\n{}\r\n"), answer("Transfer-Encoding: chunked\r\n",
        "2\r\n{}\r\n0\r\n"),
      answer("", "", "100 Continue") } do
      assert.matches("^nil the connection ended in the middle", read(text, nil, true), 1, nil, text)
    end
  end)

  it("bounds the bytes of an answer and of what frames it", function()
    local bound = { max_body = 10 }
    assert.matches("larger", read(answer("Content-Length: 11\r\n"), bound))
    assert.matches("larger", read(answer("Transfer-Encoding: chunked\r\n", "6\r\n123456\r\n5\r\n"), bound))
    assert.matches("larger", read(answer("Transfer-Encoding: chunked\r\n", "ffffffffffff\r\n"), bound))
    assert.equal("true nil true 200 0123456789", read(answer("Content-Length: 10\r\n", "0123456789"), bound))
    for name, text in pairs {
      ["a line"] = "HTTP/1.1 200 " .. ("x"):rep(20000), ["a field"] = answer("A: " .. ("x"):rep(20000)),
      fields = answer(("A: b\r\n"):rep(257)), headers = answer(("A: " .. ("x"):rep(10000) .. "\r\n"):rep(30)),
      trailer = answer("Transfer-Encoding: chunked\r\n", "0\r\n" .. ("A: b\r\n"):rep(257)),
      extensions = answer("Transfer-Encoding: chunked\r\n", ("1;" .. ("x"):rep(16000) .. "\r\nx\r\n"):rep(80)),
    } do
      local reader = http1.reader { max_body = 1000 }
      assert.is_nil(reader:feed(text), name)
      assert.is_true(reader.too_large, name)
      assert.is_nil(reader:response())
    end
  end)

  it("does not have a connection kept on which more came than the answer", function()
    assert.equal("true nil false 200 {}", (read(answer("Content-Length: 2\r\n", "{}") .. "H")))
    assert.equal("true nil false 204 ", (read(answer("Content-Length: 2\r\n", "{}", "204 x"))))
    -- an answer without a body that announces one: what comes next may be its body, or the next answer
    for _, status in ipairs { "204 x", "304 x" } do
      assert.equal("true nil false " .. status:sub(1, 3) .. " ", (read(answer("Content-Length: 2\r\n", "", status))))
      assert.equal("true nil false " .. status:sub(1, 3) .. " ",
        (read(answer("Transfer-Encoding: chunked\r\n", "", status))))
    end
    local reader = http1.reader()
    assert.is_true(reader:feed(answer("Content-Length: 2\r\n", "{}")))
    assert.is_true(reader.reusable)
    assert.is_true(reader:feed "")
    assert.is_true(reader.reusable)
    assert.is_true(reader:finish())
    assert.is_false(reader.reusable)
  end)

  it("stays broken", function()
    local reader = http1.reader()
    assert.is_nil(reader:feed "x\r\n")
    assert.is_nil(reader:feed(answer("Content-Length: 2\r\n", "{}")))
    assert.is_nil(reader:finish())
    assert.is_nil(reader:response())
  end)
end)
