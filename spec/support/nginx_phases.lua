-- SPDX-License-Identifier: MIT
--- The phases of nginx in which a transport waits, and those in which it cannot: parts of a configuration, and the
--- tests that ask them.
---
---     nginx.start(("init_worker_by_lua_block { transport = ... %s } server { ... %s }"):format(
---       phases.NEW_CLIENT, phases.LOCATIONS), { SIM = ... })
---     phases.of(it, function(target) return body end)

local assert = require "luassert"
local eventually = require "eventually"

local M = {}

--- Lua for init_worker_by_lua_block, behind the global `transport`: makes clients of it.
M.NEW_CLIENT = [[
  function new_client(options)
    options.api_key, options.secret_key, options.retry, options.rate_limit = "k", "s", false, false
    options.transport = options.transport or transport
    return assert(require("purser").new(options))
  end
]]

--- The notes that locations leave, for the http block.
M.NOTES = "lua_shared_dict notes 1m;\n"

--- The locations, for the block of a server.
M.LOCATIONS = [[
  location = /rewrite {
    rewrite_by_lua_block { ngx.ctx.time = assert(new_client({ base_url = "${SIM}" }):server_time()) }
    content_by_lua_block { ngx.print(ngx.ctx.time) }
  }
  location = /log {
    return 200 "";
    log_by_lua_block {
      local _, err = new_client({ base_url = "${SIM}" }):server_time()
      ngx.shared.notes:set("log", err.outcome .. " " .. tostring(err))
    }
  }
  location = /note { content_by_lua_block { ngx.print(ngx.shared.notes:get(ngx.var.arg_name) or "") } }
  location = /timer {
    content_by_lua_block {
      ngx.timer.at(0, function()
        ngx.shared.notes:set("timer", new_client({ base_url = "${SIM}" }):server_time())
      end)
    }
  }
]]

---@param get fun(target: string): string  asks the server for a location; returns the answer's body
function M.of(it, get)
  local function note(name)
    return eventually(function()
      local text = get("/note?name=" .. name)
      return text ~= "" and text
    end)
  end

  it("waits in the rewrite phase and in timers", function()
    assert.matches("^%d+$", get "/rewrite")
    get "/timer"
    assert.matches("^%d+$", note "timer")
  end)

  it("says so where nginx cannot wait", function()
    get "/log"
    assert.matches("^not_sent .*cannot wait in the phase log", note "log")
  end)
end

return M
