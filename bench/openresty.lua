-- SPDX-License-Identifier: MIT
--- Two ways to call inside nginx without holding up the worker: purser.transport.openresty, and a blocking call in a
-- thread of nginx's pool (ngx.run_worker_thread). One worker of nginx, a service that is another nginx, and requests of
-- this program, each of which makes the worker do one call.
--
-- For each way and each load: calls a second, median and 99th percentile of a request, the 99th percentile of a plain
-- location of the same worker meanwhile, processor time of the worker a call, its memory at the end, its threads.
-- Arguments: rounds (3); of each figure the median of the rounds is shown.

local core = require "purser.core"
local libcurl = require "purser.client.util.libcurl"
local nginx = require "nginx"
local output_of = require "bench.output_of"
local service = require "bench.service"

local rounds = tonumber(arg[1] or 3)
local SLOW_MS, CALLS, PROBE_MS = 250, 200, 5
local VMS = 256 -- a call takes a Lua state when it is queued, and nginx rejects it when all of them are taken

local two = output_of "command -v taskset" ~= "" and tonumber(output_of "nproc") > 1
local function on(processor) return two and "taskset -c " .. processor or nil end
local ticks = tonumber(output_of "getconf CLK_TCK")

local CONF = [[
access_log off;
keepalive_requests 100000000;
lua_worker_thread_vm_pool_size ${VMS};
lua_package_path "${ROOT}/lua/?.lua;${ROOT}/lua/?/init.lua;${ROOT}/?.lua;;";
lua_package_cpath "${ROOT}/build/luajit/?.so;;";
init_worker_by_lua_block {
  local purser = require "purser"
  local function make(base_url)
    return assert(purser.new { base_url = base_url, api_key = "k", secret_key = "s", rate_limit = false, retry = false,
      transport = transport })
  end
  transport = assert(purser.transport.openresty())
  clients = { ["/"] = make "${SERVICE}", ["/slow"] = make "${SERVICE}/slow" }
}
server {
  listen 127.0.0.1:${PORT} backlog=1024;
  location = /plain { return 200 "plain"; }
  location = /event {
    content_by_lua_block {
      local deposits, err = clients[ngx.var.arg_at].wallet:deposit_history()
      if not deposits then ngx.log(ngx.ERR, tostring(err)) return ngx.exit(503) end
      ngx.print(#deposits)
    }
  }
  location = /thread {
    content_by_lua_block {
      local at = ngx.var.arg_at == "/" and "" or ngx.var.arg_at
      local ok, count, why = ngx.run_worker_thread("purser", "bench.in_thread", "count", "${SERVICE}" .. at)
      if not ok or not count then ngx.log(ngx.ERR, tostring(why or count)) return ngx.exit(503) end
      ngx.print(count)
    }
  }
}
]]

local ways = {
  { title = "event loop", target = "/event", threads = 1 },
  { title = "32 threads", target = "/thread", threads = 32 },
  { title = "200 threads", target = "/thread", threads = 200 },
}
local loads = {
  { title = ("%d at once, the service takes %d ms"):format(CALLS, SLOW_MS), at = "/slow", in_flight = CALLS,
    calls = 3 * CALLS },
  { title = "32 at once, the service answers at once", at = "/", in_flight = 32, calls = 3000 },
  { title = "one after the other, the service answers at once", at = "/", in_flight = 1, calls = 500 },
}

-- Processor time in microseconds, memory in MB and threads of the one worker.
local function worker_of(server)
  local worker = output_of("pgrep -P $(cat " .. server.folder .. "/nginx.pid)"):match "%d+"
  local fields = {}
  local stat, status = output_of("cat /proc/" .. worker .. "/stat"), output_of("cat /proc/" .. worker .. "/status")
  for word in stat:match("%) (.*)"):gmatch "%S+" do fields[#fields + 1] = word end
  return (fields[12] + fields[13]) / ticks * 1e6, status:match "VmRSS:%s*(%d+)" / 1024, status:match "Threads:%s*(%d+)"
end

local function percentile(list, part)
  table.sort(list)
  return list[math.max(1, math.ceil(#list * part))]
end

-- Sends `calls` requests, so many in flight, and a plain one every PROBE_MS. Returns the figures of the table.
local function measure(server, target, load, calls)
  local multi = assert(libcurl.multi { max_in_flight = load.in_flight + 1, http_version = "1.1" })
  local function submit(to)
    return assert(multi:submit { method = "GET", base_url = server:url(), target = to, timeout_ms = 60000 })
  end
  local whole = target .. "?at=" .. load.at
  local begun, cpu = core.monotonic_us(), worker_of(server)
  local left, ended, probe, probe_at = calls, 0, nil, 0
  local times, plain = {}, {}
  for _ = 1, math.min(load.in_flight, calls) do
    submit(whole)
    left = left - 1
  end
  while ended < calls do
    if not probe and core.monotonic_ms() >= probe_at then
      probe, probe_at = submit "/plain", core.monotonic_ms() + PROBE_MS
    end
    multi:step()
    for id, response, failure in function() return multi:next() end do
      assert(response and response.status == 200, failure and failure.message or server:errors())
      if id == probe then
        probe, plain[#plain + 1] = nil, response.total_us / 1000
      else
        assert(response.body == "20", response.body)
        times[#times + 1], ended = response.total_us / 1000, ended + 1
        if left > 0 then
          submit(whole)
          left = left - 1
        end
      end
    end
    multi:wait(PROBE_MS)
  end
  local wall = core.monotonic_us() - begun
  local cpu_after, memory, threads = worker_of(server)
  multi:close()
  return { calls / wall * 1e6, percentile(times, 0.5), percentile(times, 0.99), percentile(plain, 0.99),
    (cpu_after - cpu) / calls, memory, tonumber(threads) }
end

-- A new nginx each, so that memory and threads are those of one way and one load.
local function run(peer, way, load)
  local server = nginx.start(CONF, {
    ROOT = output_of "pwd":match "[^\n]+", SERVICE = peer.plain, VMS = VMS,
    MAIN = ("thread_pool purser threads=%d max_queue=65536;"):format(way.threads),
  }, on(0))
  local ok, figures = pcall(function()
    measure(server, way.target, load, load.in_flight) -- clients and connections are made
    return measure(server, way.target, load, load.calls)
  end)
  server:stop()
  if not ok then error(figures, 0) end
  return figures
end

local peer = service.start(SLOW_MS, on(1))
local ok, message = pcall(function()
  for _ = 1, rounds do
    for _, load in ipairs(loads) do
      for i, way in ipairs(ways) do
        load[i] = load[i] or {}
        table.insert(load[i], run(peer, way, load))
      end
    end
  end
end)
peer.stop()
if not ok then error(message, 0) end

local where = two and " on one processor, the service on the other" or ""
print(("one worker of nginx%s, medians of %d rounds"):format(where, rounds))
for _, load in ipairs(loads) do
  print("\n" .. load.title)
  print("               calls/s  median ms   p99 ms  plain p99 ms  us of processor a call  memory MB  threads")
  for i, way in ipairs(ways) do
    local shown = {}
    for column = 1, 7 do
      local list = {}
      for round, figures in ipairs(load[i]) do list[round] = figures[column] end
      shown[column] = percentile(list, 0.5)
    end
    print(("%-12s %9.0f %10.1f %8.1f %13.2f %23.0f %10.0f %8.0f"):format(way.title, shown[1], shown[2], shown[3],
      shown[4], shown[5], shown[6], shown[7]))
  end
end
