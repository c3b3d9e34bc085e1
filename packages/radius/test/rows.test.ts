import { describe, expect, test } from "vitest";
import { expirationFormat, type RadiusUser, rowDifferences, type UserRow } from "../src/rows.ts";

const END = Date.parse("2026-12-03T14:03:00Z");
const inUtc = expirationFormat("UTC");

describe("the rows of a user", () => {
  const user: RadiusUser = {
    ...{ username: "fiber1", rejected: false, group: "60M" },
    expiration: { end: END, mayBeEarlier: false },
  };
  const EXPIRATION: UserRow = { id: 3, kind: "Expiration", value: "03 Dec 2026 14:03:00" };
  const GROUP: UserRow = { id: undefined, kind: "group", value: "60M" };

  test("are left where they are as they are to be", () => {
    expect(rowDifferences(user, [EXPIRATION, GROUP], inUtc)).toEqual([]);
  });

  test("are added where there are none", () => {
    expect(rowDifferences({ ...user, rejected: true }, [], inUtc)).toMatchObject([
      { kind: "Expiration", wanted: "03 Dec 2026 14:03:00", kept: undefined },
      { kind: "Auth-Type", wanted: "Reject", kept: undefined },
      { kind: "group", wanted: "60M", kept: undefined },
    ]);
  });

  test("are one of each kind, always the oldest", () => {
    const old = { ...EXPIRATION, id: 2, value: "1 Dec 2026" };
    for (const found of [[old], [old, EXPIRATION], [EXPIRATION, EXPIRATION]])
      expect(rowDifferences(user, [...found, GROUP], inUtc)).toEqual([
        { username: "fiber1", kind: "Expiration", found, wanted: "03 Dec 2026 14:03:00", kept: found[0] },
      ]);
  });

  test("reject nobody who is not rejected", () => {
    const reject: UserRow = { id: 4, kind: "Auth-Type", value: "Reject" };
    expect(rowDifferences(user, [EXPIRATION, reject, GROUP], inUtc)).toMatchObject([
      { kind: "Auth-Type", found: [reject], wanted: undefined, kept: undefined },
    ]);
  });

  test("have no end where the user never ends", () => {
    const free = { ...user, expiration: "none" } as const;
    expect(rowDifferences(free, [EXPIRATION, GROUP], inUtc)).toEqual([
      { username: "fiber1", kind: "Expiration", found: [EXPIRATION], wanted: undefined, kept: undefined },
    ]);
    expect(rowDifferences(free, [GROUP], inUtc)).toEqual([]);
  });

  test("keep an earlier end if it may be earlier", () => {
    const ended = { ...user, expiration: { end: END + 1000, mayBeEarlier: true } };
    expect(rowDifferences(ended, [EXPIRATION, GROUP], inUtc)).toEqual([]);
    for (const value of ["03 Dec 2026 14:03:02", "1 Jan 2020", "00 Foo 2026 14:03:00"])
      expect(rowDifferences(ended, [{ ...EXPIRATION, value }, GROUP], inUtc)).toMatchObject([
        { wanted: "03 Dec 2026 14:03:01" },
      ]);
  });
});

test.each([
  ["Asia/Kathmandu", "2026-09-08T18:15:00Z", "09 Sep 2026 00:00:00"],
  ["America/New_York", "2027-03-14T07:00:00.999Z", "14 Mar 2027 03:00:00"],
  ["UTC", "2106-02-07T06:28:16Z", "07 Feb 2106 06:28:15"],
])("on a clock in %s, %s is %s", (timeZone, end, text) => {
  expect(expirationFormat(timeZone)(Date.parse(end))).toBe(text);
});

test("an end that never comes is FreeRADIUS's last", () => {
  expect(inUtc(Infinity)).toBe("07 Feb 2106 06:28:15");
});
