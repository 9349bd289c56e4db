-- SPDX-License-Identifier: MIT
-- A page of another origin in the browser of a person who runs the simulator: `make console-test`.
-- make test-all: 40 s

local browser_of = require "browser"
local files = require "files"

local LUA = os.getenv "LUA" or "lua5.4"

-- Tries whatever a browser lets a page do with another origin, each of which would move the clock or disarm faults.
local PAGE = [[
<title>trying</title><iframe id=frame src="U/console"></iframe><iframe id=target name=target></iframe>
<form id=form method=post enctype="text/plain" action="U/sim/advance" target=target>
<input name='{"ms":1,"x":"' value='"}'></form>
<script>
const results = [], json = () => new Blob(['{"ms":1}'], { type: "application/json" });
const attempt = async (name, act) => {
  try { results.push(name + ": " + await act()); } catch (error) { results.push(name + ": " + error.name); }
};
const post = (more) => fetch("U/sim/advance", { method: "POST", body: '{"ms":1}', ...more });
(async () => {
  await attempt("read", async () => (await fetch("U/sim/state")).status);
  await attempt("blind read", async () => (await (await fetch("U/sim/state", { mode: "no-cors" })).text()).length);
  await attempt("JSON", async () => (await post({ headers: { "Content-Type": "application/json" } })).status);
  await attempt("blind JSON", async () => (await post({ mode: "no-cors", body: json() })).type);
  await attempt("blind text", async () => (await post({ mode: "no-cors" })).type);
  await attempt("DELETE", async () => (await fetch("U/sim/faults", { method: "DELETE" })).status);
  await attempt("beacon", () => navigator.sendBeacon("U/sim/advance", json()));
  await attempt("script", () => new Promise((done) => {
    const script = document.createElement("script");
    script.src = "U/sim/requests"; script.onload = () => done("loaded"); script.onerror = () => done("rejected");
    document.head.append(script);
  }));
  await attempt("frame", () => document.getElementById("frame").contentDocument);
  document.getElementById("target").onload = () => { document.title = "tried"; };
  document.getElementById("form").submit();
})();
</script>]]

describe("a page of another origin", function()
  local service, browser, path, other, pid, origin

  setup(function()
    service = require("service").start({ "--seed", "3", "--clock", "virtual" })
    path = files.temporary((PAGE:gsub("U/", function() return service.url .. "/" end)))
    other = assert(io.popen(("echo $$; exec %s spec/support/fixed_service.lua %s text/html"):format(LUA, path)))
    pid, origin = other:read "*l", "http://127.0.0.1:" .. other:read "*l"
    browser = browser_of.start { width = 800, height = 600 }
  end)

  teardown(function()
    if browser then browser:stop() end
    os.execute("kill " .. pid)
    other:close()
    os.remove(path)
    if service then service.stop() end
  end)

  it("can neither read nor drive the simulator", function()
    assert(service.world:fault { kind = "reset", operation = "wallet.coins", times = 1 })
    local now = service.world:refresh()
    browser:open(origin)
    browser:wait "return document.title === 'tried'"
    -- "opaque" and a beacon that was queued say that something may have been sent, and nothing of what came of it
    assert.same({ "read: TypeError", "blind read: 0", "JSON: TypeError", "blind JSON: opaque", "blind text: opaque",
      "DELETE: TypeError", "beacon: true", "script: rejected", "frame: null" }, browser:run "return results")
    assert.equal(now, service.world:refresh())
    browser:open(service.url .. "/console")
    browser:wait "return document.querySelector('#faulty').textContent === '1 fault armed'"
  end)
end)
