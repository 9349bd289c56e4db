-- SPDX-License-Identifier: MIT
return "0.1.0"
