-- SPDX-License-Identifier: MIT
--- A PostgreSQL server for a test: in a folder of its own, on a free loopback port, as an unprivileged user.

local free_port = require "free_port"

local M = {}

local function run(command)
  local pipe = assert(io.popen(command .. " 2>&1; echo \"exit $?\""))
  local text = pipe:read "*a"
  pipe:close()
  if not text:find "exit 0%s*$" then error(command .. " failed:\n" .. text, 0) end
  return text
end

-- The newest server that is installed.
local function binaries()
  local pipe = assert(io.popen "ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1")
  local path = pipe:read "*l"
  pipe:close()
  assert(path, "PostgreSQL is not installed; tools/setup torture installs it")
  return path
end

--- Starts one below `folder`; `options` are those of purser.journal.open.
function M.start(folder)
  local bin, data, port = binaries(), folder .. "/postgresql", free_port()
  run(("mkdir -p %s && chmod 755 %s"):format(data, folder))
  local as = "sh -c"
  if run "id -u":find "^0" then -- the server does not run as root
    run("chown postgres " .. data)
    as = "runuser -u postgres -- sh -c"
  end
  run(("%s '%s/initdb -D %s -U purser --auth=trust --no-sync -E UTF8 --locale=C'"):format(as, bin, data))
  local settings = ("-c listen_addresses=127.0.0.1 -c port=%d -c unix_socket_directories=%s -c fsync=off")
    :format(port, data)
  local server = {
    options = { database = "postgres", user = "purser", password = "", host = "127.0.0.1", port = port },
  }
  function server.start()
    run(("%s '%s/pg_ctl -D %s -w -l %s/log -o \"%s\" start >/dev/null'"):format(as, bin, data, data, settings))
  end
  function server.stop(mode) run(("%s '%s/pg_ctl -D %s -w -m %s stop'"):format(as, bin, data, mode or "fast")) end
  function server.restart()
    server.stop()
    server.start()
  end
  --- Begins a replica. Returns a function that ends the server, and lets the replica take its port over; and one that
  --- keeps the replica from getting more until then.
  function server.replica()
    local copy = data .. "-replica"
    local function of_copy(words) run(("%s '%s/pg_ctl -D %s -w %s >/dev/null'"):format(as, bin, copy, words)) end
    local function start(of_port)
      of_copy(('-l %s/log -o "-c listen_addresses=127.0.0.1 -c port=%d -c unix_socket_directories=%s" start')
        :format(copy, of_port, copy))
    end
    run(("mkdir -m 700 %s && chown --reference=%s %s"):format(copy, data, copy))
    run(("%s '%s/pg_basebackup -c fast -h 127.0.0.1 -p %d -U purser -D %s -R -X stream'"):format(as, bin, port, copy))
    run(("rm -f %s/.s.PGSQL.*"):format(copy)) -- the lock of the server's socket, which was copied with the data
    start(free_port())
    return function()
      server.stop "immediate"
      run(("sed -i /primary_conninfo/d %s/postgresql.auto.conf"):format(copy))
      start(port)
      of_copy "promote"
      data = copy
    end, function() of_copy "-m fast stop" end
  end

  --- Starts a pooler in front of it, which has so many sessions of it. Returns its options, and a function that stops
  --- it.
  function server.pool(mode, sessions)
    local path, pool_port = folder .. "/pool-" .. mode, free_port()
    run(("mkdir -p %s"):format(path))
    local file = assert(io.open(path .. "/ini", "w"))
    file:write(("[databases]\npostgres = host=127.0.0.1 port=%d user=purser\n[pgbouncer]\nlisten_addr = 127.0.0.1\n"
      .. "listen_port = %d\nauth_type = any\npool_mode = %s\ndefault_pool_size = %d\n"
      .. "unix_socket_dir =\npidfile = %s/pid\nlogfile = %s/log\n")
      :format(port, pool_port, mode, sessions, path, path))
    file:close()
    if as ~= "sh -c" then run("chown -R postgres " .. path) end
    run(("%s '/usr/sbin/pgbouncer -d %s/ini >/dev/null'"):format(as, path))
    run(("until %s/pg_isready -q -h 127.0.0.1 -p %d; do sleep 0.02; done"):format(bin, pool_port))
    return { database = "postgres", user = "purser", password = "", host = "127.0.0.1", port = pool_port },
      function() run(("kill -INT $(cat %s/pid)"):format(path)) end
  end
  server.start()
  return server
end

return M
