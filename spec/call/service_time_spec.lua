-- SPDX-License-Identifier: MIT
-- What a clock learns of the service's time; bounds_spec.lua says what it does not believe.

local service_time = require "purser.call.service_time"

describe("a Date header", function()
  it("is read whatever the locale", function()
    assert.equal(1699999999000, service_time.parse_date "Tue, 14 Nov 2023 22:13:19 GMT")
    assert.equal(951782400000, service_time.parse_date "Tue, 29 Feb 2000 00:00:00 GMT")
    for _, text in ipairs { "", "soon", "Tue, 14 Foo 2023 22:13:19 GMT", "2023-11-14T22:13:19Z" } do
      assert.is_nil(service_time.parse_date(text))
    end
    assert.is_nil(service_time.parse_date(nil))
  end)
end)
