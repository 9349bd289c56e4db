# SPDX-License-Identifier: MIT
# Releases, and what can be said of a build.
#   make dist          build/dist: the archive of the last commit, its list of parts (SPDX), checksums
#   make reproducible  builds the last commit in two folders; every installed file must be the same
#   make checksec      how the modules are hardened, beside Debian's own Lua modules
#   make spdx          names source files without the line of their licence
#   make deb, deb-test  the Debian packages, and their installation in a clean chroot
.PHONY: dist reproducible checksec spdx
dist:
	@tools/release/dist

reproducible:
	@tools/release/reproducible

checksec: all
	@tools/release/checksec

spdx:
	@tools/spdx check

# Debian packages of the last commit in build/deb; deb-test installs them in a clean system, as root.
.PHONY: deb deb-test
deb:
	@tools/release/deb build

deb-test:
	@tools/release/deb test
