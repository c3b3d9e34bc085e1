import { describe, expect, test } from "vitest";
import { readDatabaseAddress, showDatabaseAddress, withoutPassword } from "../../src/domain/database-address.ts";

describe("an address of a database", () => {
  test.each([
    ["sqlite:./topupd.db", { store: "sqlite", path: "./topupd.db" }],
    ["sqlite:/var/lib/a b.db", { store: "sqlite", path: "/var/lib/a b.db" }],
    ["postgres://u:p@h:5432/d", { store: "postgres", url: "postgres://u:p@h:5432/d" }],
    ["postgresql://h/d?sslmode=verify-full", { store: "postgres", url: "postgresql://h/d?sslmode=verify-full" }],
    ["postgres:///d?host=/run/postgresql", { store: "postgres", url: "postgres:///d?host=/run/postgresql" }],
  ])("is read: %s", (text, address) => {
    expect(readDatabaseAddress(text)).toEqual(address);
    expect(showDatabaseAddress(readDatabaseAddress(text))).toBe(withoutPassword(text));
  });

  test.each([
    "",
    "topupd.db",
    "sqlite:",
    "sqlite::memory:",
    "sqlite:file:x",
    "postgres:",
    "postgres://h",
    "postgres://h/",
  ])("is refused: %s", (text) => {
    expect(() => readDatabaseAddress(text)).toThrow("must be sqlite: and the path of a file");
  });

  test.each([
    ["sqlite:./top:up@d.db", "sqlite:./top:up@d.db"],
    ["postgres://u:secret@h:5432/d", "postgres://u:***@h:5432/d"],
    ["postgres://u@h:5432/d", "postgres://u@h:5432/d"],
    ["postgres://:secret@h/d", "postgres://:***@h/d"],
    ["postgres://u:se%40cr:et@h/d?sslmode=no-verify", "postgres://u:***@h/d?sslmode=no-verify"],
    ["postgres://h/d?user=u&password=secret&sslmode=disable", "postgres://h/d?user=u&password=***&sslmode=disable"],
    // A part that may be a password in a misspelt address.
    ["postgres:/u:p@ss@h/d", "postgres:/u:***@h/d"],
    ["postgres//u:pass@h:5432/d", "postgres//u:***@h:5432/d"],
    ["u:pass@h:5432/d", "u:***@h:5432/d"],
    ["mysql://u:pa/ss@h/d", "mysql://u:***@h/d"],
  ])("is shown without its password: %s", (text, shown) => {
    expect(withoutPassword(text)).toBe(shown);
  });

  test.each(["prefer", "require", "verify-ca", "allow"])(
    "is refused with an sslmode that means something else to others: %s",
    (mode) => {
      expect(() => readDatabaseAddress(`postgres://h/d?sslmode=${mode}`)).toThrow("must have sslmode=verify-full");
    },
  );
});
