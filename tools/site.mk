# SPDX-License-Identifier: MIT
# The manual as HTML, from docs/ and the pages at the top: made by pandoc and Graphviz, read without a server.
.PHONY: site site-test

site:
	@tools/setup build site
	@$(LUA) tools/site.lua build/site

# Every link and anchor of the pages, and how they look in a headless Chromium.
site-test:
	@tools/setup build test browser site
	@$(MAKE) --no-print-directory all site $(AXE)
	@$(LUA) /usr/bin/busted spec/browser/site_test.lua
