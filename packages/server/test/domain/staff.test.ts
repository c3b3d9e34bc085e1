import { expect, test } from "vitest";
import { formatAccessToken } from "../../src/domain/access-token.ts";
import { ALL_ROLES, type Role } from "../../src/domain/authority.ts";
import { isEasilyGuessed } from "../../src/domain/guessable.ts";
import {
  formatRecoveryCode,
  formatStaffKey,
  hashRecoveryCode,
  isStaffKey,
  PERMISSIONS,
  sharedRole,
} from "../../src/domain/staff.ts";
import { seededRandom } from "../support/random.ts";

test.each([
  ..."password1234 Password2024! P@ssw0rd2024! MyPassword123! passwordpassword changeme1234 letmein12345!".split(" "),
  ..."qwertyuiop123 1q2w3e4r5t6y 1qaz2wsx3edc zaq12wsxcde3 poiuytrewq12 asdfghjkl;'1 qazwsxedcrfv".split(" "),
  ..."123456789012 112233445566 123321123321 012345678901 739150284617 abcdefghijkl abcabcabcabc Xy7$Xy7$Xy7$".split(
    " ",
  ),
  ..."aaaaaaaaaaaa iloveyou12345 Welcome@12345 Admin@123456 Nepal@12345678 football12345 correcthorsebatterystaple".split(
    " ",
  ),
  ..."ramesh.thapa1 Ramesh123456 thapa-thapa-1 topupd-admin1 trustno1trustno1 Superman2023!!".split(" "),
])("the password %s is among those that are guessed first", (password) => {
  expect(isEasilyGuessed(password, "ramesh.thapa")).toBe(true);
});

test.each([
  ...["vX9#kq2LmZ7w", "tumbling otters sing", "kettle-orbit-fjord", "Bq7hT2mW9xRz", "सगरमाथा को शिखर"],
  ...["mountain bicycle teapot", "correct horse jumps twice over", "sunita1234567x#Lq"],
])("the password %s is not", (password) => {
  expect(isEasilyGuessed(password, "ramesh.thapa")).toBe(false);
});

test("a key is told from a partner's token, and from one with a letter that is wrong", () => {
  const random = seededRandom(2)(32);
  const key = formatStaffKey(random);
  expect(key).toMatch(/^topup_staff_[0-9A-Za-z]{49}$/);
  expect(isStaffKey(key)).toBe(true);
  expect(isStaffKey(formatAccessToken("production", random))).toBe(false);
  for (const at of [12, 40, key.length - 1]) {
    const wrong = key[at] === "x" ? "y" : "x";
    expect(isStaffKey(key.slice(0, at) + wrong + key.slice(at + 1))).toBe(false);
  }
});

test("two roles share the role that allows what both allow, and a seller shares none with staff", () => {
  const allowed = (role: Role | undefined) => (role === undefined ? [] : PERMISSIONS[role]);
  for (const one of ALL_ROLES) {
    for (const other of ALL_ROLES) {
      if (one === "seller" && other === "seller") continue;
      const both = PERMISSIONS[one].filter((permission) => PERMISSIONS[other].includes(permission));
      expect(allowed(sharedRole(one, other)), `${one} and ${other}`).toEqual(both);
    }
  }
  expect(sharedRole("support", "finance")).toBe("viewer");
  expect(sharedRole("admin", "seller")).toBeUndefined();
});

test("a recovery code says all its bits, and is the same however it is typed", () => {
  const codes = [formatRecoveryCode(new Uint8Array(10)), formatRecoveryCode(new Uint8Array(10).fill(255))];
  expect(codes).toEqual(["aaaa-aaaa-aaaa-aaaa", "9999-9999-9999-9999"]);
  expect(hashRecoveryCode(" AAAA aaaa-aaaaaaaa")).toBe(hashRecoveryCode(codes[0] ?? ""));
  expect(hashRecoveryCode(codes[0] ?? "")).toMatch(/^[0-9a-f]{64}$/);
});
