import fc from "fast-check";
import { expect, test } from "vitest";
import { columnsOf, unnest } from "../../src/store/postgres/tables/columns.ts";
import { makeEmptyDatabase, withClient } from "../support/postgres-database.ts";

const COLUMNS = [
  ["words", "text"],
  ["amount", "bigint"],
  ["flag", "boolean"],
  ["key", "bytea"],
] as const;

/** PostgreSQL's text holds no NUL, and lone surrogates are refused before anything comes here. */
const text = fc.string({ unit: "binary" }).filter((words) => !words.includes("\u0000") && words.isWellFormed());
const row = fc.tuple(
  fc.option(fc.oneof(text, fc.constantFrom("NULL", "null", "", " ", "{}", ",", '"', "\\", '\\"', "{a,b}"))),
  fc.option(fc.maxSafeInteger()),
  fc.option(fc.boolean()),
  fc.option(fc.uint8Array({ maxLength: 40 })),
);

test("rows of parameters arrive as they were sent, whatever is in them", async () => {
  const { url, made } = makeEmptyDatabase();
  await made;
  await withClient(url, async (client) => {
    const question = `SELECT * FROM ${unnest(COLUMNS)} AS k(${COLUMNS.map(([name]) => name).join(", ")})`;
    const send = async (rows: readonly (readonly unknown[])[]) => {
      const { rows: got } = await client.query(question, columnsOf(COLUMNS.length, rows));
      return got.map(({ words, amount, flag, key }) => [
        words,
        amount === null ? null : Number(amount),
        flag,
        key === null ? null : new Uint8Array(key),
      ]);
    };
    await fc.assert(
      fc.asyncProperty(fc.array(row, { maxLength: 20 }), async (rows) => {
        expect(await send(rows)).toEqual(rows);
      }),
    );
    expect(await send([["a", 9007199254740991n, true, undefined]])).toEqual([["a", 9007199254740991, true, null]]);
  });
});

test("what no column can hold is refused", () => {
  expect(() => columnsOf(1, [[{}]])).toThrow(TypeError);
  expect(() => columnsOf(1, [[["nested"]]])).toThrow(TypeError);
});
