import { expect, test } from "vitest";
import { printable, printableJson, shellWord } from "../../src/cli/words/text.ts";

const HOSTILE = "a\u009b31mb\u202ec\u200fd\u2028e\u001bf\u007f";

test("nothing that others have sent moves a terminal's cursor, colours or turns what follows", () => {
  expect(printable(HOSTILE)).toBe("a\ufffd31mb\ufffdc\ufffdd\ufffde\ufffdf\ufffd");
});

test("JSON has such marks as escapes, and is the same value", () => {
  const text = printableJson({ udf1: HOSTILE, name: "सीता \u{1f600}" });
  expect(JSON.parse(text)).toEqual({ udf1: HOSTILE, name: "सीता \u{1f600}" });
  expect(text).toContain("सीता \u{1f600}");
  expect(printable(text)).toBe(text);
});

test.each([
  ["1000001", "1000001"],
  ["trial4-iptv@home.example", "trial4-iptv@home.example"],
  ["$(touch x)", "'$(touch x)'"],
  ["it's", "'it'\\''s'"],
  ["", "''"],
])("a command to copy names %s as %s", (word, quoted) => {
  expect(shellWord(word)).toBe(quoted);
});
