import { expect, onTestFinished, test } from "vitest";
import { StoreRefused } from "../../../src/store/errors.ts";
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

test("a server that does not show advisory locks is refused in words, before anything is made", async () => {
  const { url, made } = makeEmptyDatabase();
  await made;
  await withClient(url, (client) =>
    client.query("CREATE VIEW public.pg_locks AS SELECT * FROM pg_catalog.pg_locks WHERE locktype <> 'advisory'"),
  );
  const hiding = new URL(url);
  hiding.searchParams.set("options", "-c search_path=public,pg_catalog");
  const opening = openElsewhere(hiding.href);
  await expect(opening).rejects.toThrow(StoreRefused);
  await expect(opening).rejects.toThrow(/does not show in pg_locks the advisory locks/);
  const { rows } = await withClient(url, (client) => client.query("SELECT FROM pg_class WHERE relname = 'top_up'"));
  expect(rows).toEqual([]);
});

async function openThrough(mode: PoolMode) {
  const { url, made } = makeEmptyDatabase();
  await made;
  const pooler = await startPooler(url, mode);
  onTestFinished(() => pooler.close());
  const opening = openElsewhere(pooler.url);
  opening.catch(() => {});
  return { url, opening };
}
