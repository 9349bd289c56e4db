-- SPDX-License-Identifier: MIT
-- Draws docs/terminal.svg: a shell with the plan of a list, and with a payment asked for twice and made once, as
-- `purser` prints them. Each command is run against the simulator, whose seed makes the same ids each time.
--
--   lua5.4 tools/picture.lua [FILE]

local COLUMNS, LINE, CHAR, MARGIN = 80, 18, 8.4, 16

local PAY = "purser wallet withdraw --coin USDT --netWork TRX --amount 12.5 \\\n"
  .. "    --address TLa2f6VPqDgRE67v1736s7bJ8Ray5wYjU7 \\\n"
  .. "    --withdrawOrderId invoice-1 --journal pay.db --yes"
local commands = {
  "cat june.csv", "purser payouts plan june.csv --operation wallet.withdraw", PAY,
  "# the arrow up, and Enter: the same command again", PAY,
}
local LIST = "key,coin,network,address,amount\n"
  .. "invoice-1017,USDT,trc20,TLa2f6VPqDgRE67v1736s7bJ8Ray5wYjU7,20\n"
  .. "invoice-1018,USDT,trc20,TLa2f6VPqDgRE67v1736s7bJ8Ray5wYjU7,150.5\n"

local function output_of(command)
  local pipe = assert(io.popen(command))
  local text = pipe:read "*a"
  pipe:close()
  return text
end

-- Starts a simulator; returns its URL and the number of its process.
local function start()
  local pipe = assert(io.popen("echo $$; exec lua5.4 bin/purser sim --port 0 --demo --idle-timeout 30s"))
  local pid = pipe:read "*l"
  local url
  repeat
    local line = assert(pipe:read "*l", "the simulator did not start")
    url = line:match "http://127%.0%.0%.1:%d+"
  until url
  return url, pid, pipe -- a pipe that is let go would end it
end

-- Returns the lines of the terminal: { text, is_typed }.
local function lines_of()
  local url, pid, pipe = start()
  local folder = output_of "mktemp -d":gsub("\n", "")
  local list = assert(io.open(folder .. "/june.csv", "wb"))
  list:write(LIST)
  list:close()
  local head = ("cd %s && export COLUMNS=%d PURSER_BASE_URL=%s PURSER_ACCOUNT=treasury XDG_CACHE_HOME=%s "
    .. "PURSER_API_KEY=mx0DEMOdemoDEMOdemo0 PURSER_SECRET_KEY=demosecretworthnothing0000000000; "
    .. "LUA_PATH='%s' LUA_CPATH='%s'; export LUA_PATH LUA_CPATH; purser() { lua5.4 %s/bin/purser \"$@\"; }; ")
    :format(folder, COLUMNS, url, folder, package.path:gsub("lua/%?", os.getenv "PWD" .. "/lua/?"),
      package.cpath:gsub("build/", os.getenv "PWD" .. "/build/"), os.getenv "PWD")
  local lines = {}
  for _, command in ipairs(commands) do
    local first = true
    for line in (command .. "\n"):gmatch "([^\n]*)\n" do
      lines[#lines + 1] = { (first and "$ " or "") .. line, true }
      first = false
    end
    for line in output_of(head .. command .. " 2>&1"):gmatch "([^\n]*)\n" do
      repeat -- a terminal goes on in the next line
        lines[#lines + 1] = { line:sub(1, COLUMNS) }
        line = line:sub(COLUMNS + 1)
      until line == ""
    end
  end
  os.execute("kill " .. pid .. "; rm -rf " .. folder)
  pipe:close()
  return lines
end

local function escaped(text)
  return (text:gsub("[&<>]", { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;" }))
end

local function draw(lines)
  local width, height = math.ceil(COLUMNS * CHAR + 2 * MARGIN), #lines * LINE + 2 * MARGIN
  local out = { ('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img">\n')
    :format(width, height, width, height),
    "<title>The plan of a list, and a withdrawal made once though it is asked for twice</title>\n",
    ('<rect width="%d" height="%d" rx="6" fill="#1b1f24"/>\n'):format(width, height),
    '<g font-family="ui-monospace, monospace" font-size="14" fill="#d0d7de">\n' }
  for i, line in ipairs(lines) do
    assert(#line[1] <= COLUMNS, line[1])
    local text = escaped(line[1]):gsub(" ", "\194\160") -- a browser would leave out blanks, and stretch the rest
    out[#out + 1] = ('<text x="%d" y="%d"%s textLength="%.1f" lengthAdjust="spacingAndGlyphs">%s</text>\n'):format(
      MARGIN, MARGIN + i * LINE - 4, line[2] and ' fill="#7ee787"' or "", #line[1] * CHAR, text)
  end
  out[#out + 1] = "</g>\n</svg>\n"
  return table.concat(out)
end

local file = assert(io.open(arg[1] or "docs/terminal.svg", "wb"))
file:write(draw(lines_of()))
file:close()
