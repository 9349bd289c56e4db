# SPDX-License-Identifier: MIT
# The official clients of the Model Context Protocol, of 2025 and of 2026, and their inspector, which `make test-all`
# lets talk to `purser agent` (spec/desk/agent/official_test.lua). npm puts them into build/ once; it needs the network
# for that alone.
MCP_SDK       := 1.25.1
MCP_CLIENT    := 2.4.0
MCP_INSPECTOR := 2.12.0
MCP           := build/mcp/node_modules/.package-lock.json

$(MCP): tools/mcp.mk
	@command -v npm >/dev/null && command -v node >/dev/null || tools/setup npm
	@mkdir -p build/mcp
	@npm install --prefix build/mcp --ignore-scripts --no-audit --no-fund --no-save --loglevel=error \
		@modelcontextprotocol/sdk@$(MCP_SDK) @modelcontextprotocol/client@$(MCP_CLIENT) \
		@modelcontextprotocol/inspector@$(MCP_INSPECTOR)
	@touch $@
