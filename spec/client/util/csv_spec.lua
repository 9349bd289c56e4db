-- SPDX-License-Identifier: MIT
-- Lines of CSV that no spreadsheet runs and no terminal obeys, and the exact ones for programs.

local csv = require "purser.client.util.csv"

describe("a line of CSV", function()
  it("marks as text what a spreadsheet would run", function()
    for _, text in ipairs { "=1+1", "+1+1", "-2+3", "@SUM(A1)", " =1", "\239\188\157" .. "1", "\239\188\139" .. "1",
      "\239\188\141" .. "1", "\239\188\160" .. "A", "-5", "+5", "-" } do
      assert.equal("'" .. text .. "\n", csv.line { text })
    end
    assert.equal("\"'=HYPERLINK(\"\"http://evil\"\",\"\"x\"\")\"\n", csv.line { '=HYPERLINK("http://evil","x")' })
  end)

  it("keeps negative numbers in columns of numbers, and nothing else there", function()
    local options = { is_number = { true, true, true, true, true } }
    assert.equal("-5,-0.25,'-2+3,'+1,'-1e5\n", csv.line({ "-5", "-0.25", "-2+3", "+1", "-1e5" }, options))
    assert.equal("-5,true\n", csv.line { -5, true })
  end)

  it("shows what hides, and keeps each record on one line", function()
    assert.equal("\\x09=1,\\x0D\\x0A=1,a\\x1B[2J,\\u{202E}b\n",
      csv.line { "\t=1", "\r\n=1", "a\27[2J", "\226\128\174b" })
  end)

  it("quotes what separates, here or in a spreadsheet of another country", function()
    assert.equal("\"a,b\",\"c;d\",\"e\"\"f\",\" g\",\n", csv.line { "a,b", "c;d", 'e"f', " g", "" })
    assert.equal("a,,b,\n", csv.line { "a", nil, "b", nil, n = 4 })
  end)

  it("is no comment where its first cell begins with #, and comes back as it was", function()
    for _, options in ipairs { {}, { raw = true } } do
      local records, _, comments = csv.parse(csv.line({ "#1042", "25" }, options) .. csv.line({ "#", "a\nb" },
        { raw = true }))
      assert.same({ { "#1042", "25", line = 1 }, { "#", "a\nb", line = 2 } }, records)
      assert.equal(0, comments)
    end
  end)

  it("is exact when that is asked for", function()
    assert.equal("=1,\"\t\",\"a\nb\",\27\n", csv.line({ "=1", "\t", "a\nb", "\27" }, { raw = true }))
  end)

  it("ends with a cell in quotes as with any other", function()
    assert.same({ { "a", "b", line = 1 } }, (csv.parse 'a,"b"'))
    assert.is_nil((csv.parse 'a,"b"c'))
  end)

  it("is read with one of three separators, and of a text alone", function()
    assert.same({ nil, "the separator is none; give a comma, a semicolon or a tab" }, { csv.parse("a", "") })
    assert.same({ nil, "the text is a nil; give a string" }, { csv.parse() })
  end)

  it("loses no line after a comment, however lines end", function()
    for _, ends in ipairs { "\n", "\r\n", "\r" } do
      local text = table.concat({ "key,amount", "# rent", "a,1", "#", "b,2" }, ends)
      local records, _, comments = csv.parse(text)
      assert.same({ 3, 2 }, { #records, comments })
      assert.same({ "a", "b" }, { records[2][1], records[3][1] })
    end
  end)
end)

describe("a file of CSV that somebody else wrote", function()
  it("has the separator that its first line has most of, comments left out", function()
    for text, separator in pairs { ["a;b,c;d"] = ";", ["a,b"] = ",", ["# x;y;z\na,b\n1;2;3"] = ",",
      ["a\tb\r1,2,3"] = "\t", ["\n\na;b"] = ";", [""] = ",", ["a,b;c"] = ",", ["a\tb;c\td"] = "\t" } do
      local records, _, _, found = csv.read(text)
      assert.same({ text, separator }, { text, found })
      assert.same(records, (csv.parse(text, separator)))
    end
    local records, message, comments = csv.read "# one\na;b\n# two\n1;2"
    assert.same({ 2, 2 }, { #records, comments })
    assert.is_nil(message)
    assert.same({ nil, 'line 1: a quoted cell does not end, or more follows it' }, { csv.read '"a' })
  end)

  it("may be another kind of file", function()
    for text, kind in pairs { ["PK\3\4"] = "workbook", ["\208\207\17\224"] = "workbook",
      ["SQLite format 3\0"] = "database", [' {"a":1}'] = "JSON", ["\n[1]"] = "JSON",
      ["\255\254a\0"] = "UTF%-16", ["\254\255\0a"] = "UTF%-16",
      ["a\0b"] = "UTF%-16" } do
      local records, message = csv.read(text)
      assert.is_nil(records)
      assert.matches(kind, message)
    end
    assert(csv.read(("a"):rep(64) .. "\0"))
    assert.same({ nil, "the text is a nil; give a string" }, { csv.read() })
  end)

  it("has amounts of two readings where its separator is no comma", function()
    for _, text in ipairs { "12.500", "1,000", "-1.234", "999.999" } do
      for separator, has in pairs { [";"] = true, ["\t"] = true, [","] = false } do
        assert.equal(has, csv.has_two_readings(text, separator), text)
      end
    end
    for _, text in ipairs { "0.123", "1234.500", "12.5", "12.5000", "1.000.000", "12500" } do
      assert.is_false(csv.has_two_readings(text, ";"), text)
    end
  end)
end)
