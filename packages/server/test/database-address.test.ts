import { describe, expect, test } from "vitest";
import { readDatabaseAddress, showDatabaseAddress, withoutPassword } from "../src/database-address.ts";

describe("an address of a database", () => {
  test.each([
    ["sqlite:./topupd.db", { store: "sqlite", path: "./topupd.db" }],
    ["sqlite:/var/lib/a b.db", { store: "sqlite", path: "/var/lib/a b.db" }],
    ["postgres://u:p@h:5432/d", { store: "postgres", url: "postgres://u:p@h:5432/d" }],
    ["postgresql://h/d?sslmode=verify-full", { store: "postgres", url: "postgresql://h/d?sslmode=verify-full" }],
    ["postgres:///d?host=/run/postgresql", { store: "postgres", url: "postgres:///d?host=/run/postgresql" }],
  ])("is read: %s", (text, address) => {
    expect(readDatabaseAddress(text)).toEqual(address);
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
    ["postgres://u:se%40cr:et@h/d?sslmode=require", "postgres://u:***@h/d?sslmode=require"],
    ["postgres://h/d?user=u&password=secret&sslmode=require", "postgres://h/d?user=u&password=***&sslmode=require"],
  ])("is shown without its password: %s", (text, shown) => {
    expect(showDatabaseAddress(readDatabaseAddress(text))).toBe(shown);
  });

  test("hides what may be a password in a text that is none", () => {
    expect(withoutPassword("postgres:/u:p@ss@h/d")).toBe("postgres:/u:***@h/d");
  });
});
