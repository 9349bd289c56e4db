std = "max"
max_line_length = 120
files["spec"] = { std = "max+busted" }
exclude_files = { "build" }
files["lua/purser/transport/openresty.lua"] = { read_globals = { "ngx" } }
files["lua/purser/call/rate_limit"] = { read_globals = { "ngx" } }
files["lua/purser/transport/cosocket.lua"] = { read_globals = { "ngx" } }
files["examples/openresty"] = { globals = { "ngx" } }
