std = "max"
max_line_length = 120
files["spec"] = { std = "max+busted" }
exclude_files = { "build" }
files["lua/purser/hosts/nginx/openresty.lua"] = { read_globals = { "ngx" } }
files["lua/purser/hosts/limits"] = { read_globals = { "ngx" } }
files["lua/purser/hosts/nginx/phases.lua"] = { read_globals = { "ngx" } }
files["lua/purser/hosts/nginx/cosocket.lua"] = { read_globals = { "ngx" } }
files["examples/hosts"] = { globals = { "love", "minetest", "vim" } }
files["examples/openresty"] = { globals = { "ngx" } }
