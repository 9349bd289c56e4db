-- SPDX-License-Identifier: MIT
-- Names that were changed before the first release, old -> new. Nothing answers to an old one: it gets the new one as
-- its suggestion (suggest.lua), where there is such a name. A name that became several, each in a place of its own, has
-- them all.

return {
  -- methods and options
  settle = "reconcile", budget = { "spending_limit", "rate_limit" }, limits = "rate_limit",
  client_ids = "generate_ids", extra = "extra_params", remake = "recreate",
  visibility_lag_ms = "visibility_delay_ms", lag_ms = "visibility_delay_ms", settle_ms = "late_arrival_ms",
  serial = "no_duplicates", users = "recipients", other_assets = "allow_unlisted_assets", look = "force",
  check_saved = "require_saved_address", keep = "leave", timeout_ms = "deadline_ms",
  most_ms = "max_ms",
  -- the shell: options and commands
  ["--settle"] = "--reconcile", ["--go"] = "--execute", ["--for"] = "--deadline", ["--keep"] = "--leave",
  ["--keys"] = "--credentials", ["--check-saved"] = "--require-saved-address", ["--idle-exit"] = "--idle-timeout",
  ops = "operations", ["plan-withdraw"] = "withdraw-plan",
}
