import { describe, expect, test } from "vitest";
import { codeOfTerm, firstPlace, nameRanges, searchRanges, storedTerms } from "../../src/domain/customer-search.ts";
import { mobileNumbersOf } from "../../src/domain/names.ts";

const RULES = { defaultCountry: "NP", normaliseMobile: mobileNumbersOf("NP") };
const ZOE = {
  status: "active" as const,
  ...{ cuid: "204117", firstName: "Zoë Maya", lastName: "O'Brien-Rai", mobile: "984-1234567", area: "Patan" },
  mobileForm: "+9779841234567",
  connections: [{ service: "tv", reqId: "ab12" }] as const,
};

describe("the terms of a customer", () => {
  test("are its codes from the end, and the words of its name", () => {
    expect(storedTerms(ZOE).sort()).toEqual([
      ...["e21BA", "e711402", "e7654321489779"],
      ...["nBRIEN", "nMAYA", "nO", "nPATAN", "nRAI", "nZOE"],
    ]);
  });

  test("hold the digits of a mobile number, or the text if it has others", () => {
    const terms = (mobile: string) => storedTerms({ ...ZOE, mobile, mobileForm: undefined });
    expect([terms("98-41"), terms("none")]).toEqual([
      expect.arrayContaining(["e1489"]),
      expect.arrayContaining(["eENON"]),
    ]);
  });

  test("are short enough for an index, and no character is cut in two", () => {
    const longest = "\u{1f600}".repeat(200);
    for (const term of storedTerms({ ...ZOE, cuid: longest, firstName: "ﷺ".repeat(200) })) {
      expect(Array.from(term).length).toBeLessThanOrEqual(65);
      expect(term.isWellFormed()).toBe(true);
    }
  });
});

describe("a search", () => {
  const codeFor = (text: string) => {
    const place = firstPlace(ZOE, searchRanges(text, RULES));
    return place && (codeOfTerm(ZOE, place.term) ?? "the name");
  };

  test.each([
    ...["984123", "+977 98", "(984) 1234567", "3-4567", "९८४१"].map((text) => [text, ZOE.mobile]),
    ...["2041", "4117"].map((text) => [text, ZOE.cuid]),
    ...["AB12", "ab12"].map((text) => [text, "ab12"]),
    ...["zoe", "rai zo", "zoe pat", "o'brien", "Z", "BRIEN-R"].map((text) => [text, "the name"]),
  ])("for %j finds %s", (text, found) => {
    expect(codeFor(text)).toBe(found);
  });

  test.each(["411", "204", "ab1", "oe", "zoe sita", "1234", "%", "-", "\u200d"])("for %j finds nothing", (text) => {
    expect(codeFor(text)).toBeUndefined();
  });

  test("of a number looks at no names", () => {
    expect([nameRanges("204117"), nameRanges("")]).toEqual([[], []]);
  });
});
