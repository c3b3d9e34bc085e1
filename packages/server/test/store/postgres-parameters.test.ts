import fc from "fast-check";
import { expect, test } from "vitest";
import { asked, withRows } from "../../src/store/postgres/columns.ts";
import { makeEmptyDatabase, withClient } from "../support/postgres-database.ts";

const COLUMNS = ["name", "months", "amount"] as const;

/** PostgreSQL's text cannot contain NUL, and readers refuse lone surrogates. */
const text = fc.string({ unit: "binary" }).filter((words) => !words.includes("\u0000") && words.isWellFormed());
const row = fc.record({
  name: fc.option(fc.oneof(text, fc.constantFrom("NULL", "null", "", " ", "{}", ",", '"', "\\", '\\"', "{a,b}"))),
  months: fc.option(fc.integer()),
  amount: fc.option(fc.maxSafeInteger()),
});

test("rows of parameters arrive unchanged, with any content", async () => {
  const { url, made } = makeEmptyDatabase();
  await made;
  const ask = withRows({ name: "rows", text: `SELECT * FROM ${asked(COLUMNS)}` }, COLUMNS);
  await withClient(url, async (client) => {
    await fc.assert(
      fc.asyncProperty(fc.array(row, { maxLength: 20 }), async (rows) => {
        const { values = [], ...statement } = ask(rows);
        const { rows: got } = await client.query({ ...statement, values: [...values] });
        const number = (value: string | null) => (value === null ? null : Number(value));
        const numbered = got.map(({ name, months, amount }) => ({
          name,
          months: number(months),
          amount: number(amount),
        }));
        expect(numbered).toEqual(rows);
      }),
    );
  });
});
