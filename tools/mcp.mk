# SPDX-License-Identifier: MIT
# The official client of the Model Context Protocol and its inspector, which `make test-all` lets talk to `purser agent`
# (spec/desk/agent/official_test.lua). npm puts both into build/ once; it needs the network for that alone.
MCP_SDK       := 1.32.2
MCP_INSPECTOR := 0.15.0
MCP           := build/mcp/node_modules/.package-lock.json

$(MCP): tools/mcp.mk
	@command -v npm >/dev/null && command -v node >/dev/null || tools/setup npm
	@mkdir -p build/mcp
	@npm install --prefix build/mcp --ignore-scripts --no-audit --no-fund --no-save --loglevel=error \
		@modelcontextprotocol/sdk@$(MCP_SDK) @modelcontextprotocol/inspector-cli@$(MCP_INSPECTOR)
	@touch $@
