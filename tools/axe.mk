# SPDX-License-Identifier: MIT
# axe-core, which looks for what people with a screen reader or weak eyes cannot use; the browser tests run it. npm puts
# it into build/ once; it needs the network for that alone.
AXE_VERSION := 4.10.3
AXE         := build/axe/node_modules/axe-core/axe.min.js

$(AXE):
	@command -v npm >/dev/null || tools/setup npm
	@mkdir -p build/axe
	@npm install --prefix build/axe --ignore-scripts --no-audit --no-fund --no-save --loglevel=error axe-core@$(AXE_VERSION)
