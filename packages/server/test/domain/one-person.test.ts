import { expect, test } from "vitest";
import { type AccessChange, namesOfPerson } from "../../src/domain/one-person.ts";

const DAY_MS = 86_400_000;
const NOW = 100 * DAY_MS;
const SHELL = "root";

const change = (action: string, author: string, subject: string, days = 0): AccessChange => {
  return { action, author, byStaff: author !== SHELL, subject, at: NOW - days * DAY_MS };
};
const JOINED = ["asha", "hari", "maya"].map((name) => change("staff.add", SHELL, name, 30));
const personOf = (author: string, ...changes: AccessChange[]) => namesOfPerson([...JOINED, ...changes], author, NOW);

test("a shell user with the name of an account links nobody", () => {
  const made = ["hari", "gita"].map((name) => ({ ...change("staff.add", "asha", name), byStaff: false }));
  expect(personOf("asha", ...made)).toEqual(["asha"]);
  expect(personOf("gita", ...made)).toEqual(["gita"]);
});

test("accounts that the shell made, or that changed themselves, are persons of their own", () => {
  expect(personOf("asha", change("staff.role", SHELL, "hari"), change("staff.password", "hari", "hari"))).toEqual([
    "asha",
  ]);
});

test.each(["staff.add", "staff.role", "staff.password", "staff.totp_off"])(
  "%s links two accounts for 7 days",
  (action) => {
    for (const [author, other] of [
      ["asha", "hari"],
      ["hari", "asha"],
    ] as const) {
      expect(personOf(author, change(action, "asha", "hari", 7))).toEqual(["asha", "hari"]);
      expect(personOf(author, change(action, "asha", "hari", 7.01)), other).toEqual([author]);
    }
  },
);

test("a key is always one person with the account that made it last", () => {
  const [first, last] = [change("staff_key.add", "asha", "crm", 90), change("staff_key.add", "hari", "crm", 20)];
  expect(personOf("key crm", first)).toEqual(["asha", "key crm"]);
  expect(personOf("key crm", first, last)).toEqual(["hari", "key crm"]);
  expect(personOf("asha", first, last)).toEqual(["asha"]);
  expect(personOf("key crm", first, change("staff_key.add", SHELL, "crm", 1))).toEqual(["key crm"]);
});

test("links go on: an account that two others were made by makes them one person", () => {
  const made = [change("staff.add", "asha", "hari", 1), change("staff.password", "maya", "hari", 2)];
  expect(personOf("maya", ...made, change("staff_key.add", "maya", "crm", 50))).toEqual([
    "asha",
    "hari",
    "key crm",
    "maya",
  ]);
  // An account that was removed since counts, too.
  const through = [change("staff.add", "asha", "ravi", 2), change("staff.add", "ravi", "gita", 1)];
  expect(personOf("gita", ...through)).toEqual(["asha", "gita", "ravi"]);
});
