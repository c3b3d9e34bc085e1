import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { StoreRefused, StoreUnavailable } from "../../../src/store/errors.ts";
import { translate } from "../../../src/store/postgres/session/trouble.ts";
import { makeEmptyDatabase, withClient } from "../../support/postgres-database.ts";
import { type PoolMode, startPooler } from "../../support/postgres-pooler.ts";
import { openElsewhere } from "./faulty-provider.ts";

test("a pooler that lends a backend for each transaction is refused in words, before anything is made", async () => {
  const { url, opening } = await openThrough("transaction");
  await expect(opening).rejects.toThrow(StoreRefused);
  await expect(opening).rejects.toThrow(/a pooler .* pool_mode = session$/);
  const { rows } = await withClient(url, (client) => client.query("SELECT FROM pg_class WHERE relname = 'top_up'"));
  expect(rows).toEqual([]);
});

test("a pooler that gives each session a backend of its own will do", async () => {
  const { opening } = await openThrough("session");
  const store = await opening;
  onTestFinished(() => store.close());
  await store.ping();
});

test.each(["26000", "42P05"])(
  "a session that meets another's prepared statements speaks of the pooler, and of no defect: %s",
  (code) => {
    const error = Object.assign(new pg.DatabaseError("prepared statement", 0, "error"), { code });
    const translated = translate(error);
    expect(translated).toBeInstanceOf(StoreUnavailable);
    expect(String(translated)).toContain("a pooler");
  },
);

async function openThrough(mode: PoolMode) {
  const { url, made } = makeEmptyDatabase();
  await made;
  const pooler = await startPooler(url, mode);
  onTestFinished(() => pooler.close());
  const opening = openElsewhere(pooler.url);
  opening.catch(() => {});
  return { url, opening };
}
