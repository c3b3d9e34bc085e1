import { orderOf } from "../../domain/bulk.ts";
import { portionsOf } from "../../domain/portions.ts";
import { Refused } from "../../domain/refused.ts";
import type { BulkLineRow, BulkRunRow } from "../../store/tables.ts";
import { atNow, correctingBy, decide } from "../decide.ts";
import { countBulk } from "../limits.ts";
import type { Office } from "../office.ts";
import { count } from "../text.ts";
import type { MeantLine } from "./lines.ts";
import { decidePortion, nameOf, PORTION, problemOf } from "./plan.ts";
import * as sql from "./sql.ts";

/** Pause between portions, for top-ups that wait. */
export const PAUSE_MS = 20;

/**
 * Reads the list of a bulk change and decides on each connection once, portion by portion. Nothing is corrected.
 * @throws Refused if it would change more than the author may change today.
 */
export async function readList(
  office: Office,
  run: BulkRunRow,
  list: AsyncIterable<readonly MeantLine[]>,
  ending: AbortSignal,
) {
  let number = 0;
  for await (const all of list)
    for (const lines of portionsOf(all, PORTION)) {
      if (number > 0) await office.sleep(PAUSE_MS, ending);
      if (ending.aborted) return;
      number += await addLines(atNow(office), run, lines, number);
      office.progress(count(lines.at(-1)?.line ?? 0, "line"));
    }
  const now = atNow(office);
  await decide(now, [], async (tx) => {
    await countBulk({ ...now, isPreview: true }, tx, (await sql.findRun(tx, run.id)) ?? run);
    const write = () => sql.updateRun(tx, run, { state: "checked", changedAt: now.by.at });
    return { answer: undefined, change: { write, audit: [] } };
  });
}

/** @returns number of added lines. */
async function addLines(office: Office, run: BulkRunRow, meant: readonly MeantLine[], number: number): Promise<number> {
  const { engine } = office.store;
  const order = orderOf(run);
  const lines = await newLines(office, run, meant);
  const keys = lines.flatMap((each) => ("problem" in each.meant ? [] : [each.meant]));
  const effects = await decidePortion(office.store, engine.db, order, keys, correctingBy(office));
  const problems = new Map(effects.map((effect) => [nameOf(effect.key), problemOf(order, effect)]));
  const rows = lines.map(({ line, text, whole = null, meant: of }, index): BulkLineRow => {
    const place = { runId: run.id, number: number + index + 1, line, text, whole, plan: null, entry: null };
    if ("problem" in of) return { ...place, cuid: null, service: null, reqId: null, problem: of.problem };
    const { cuid, service, reqId, goodwill } = of;
    const entry = goodwill && { plan: goodwill.plan, entry: goodwill.seq };
    return { ...place, cuid, service, reqId, ...entry, problem: problems.get(nameOf(of)) ?? null };
  });
  const left = rows.filter(({ problem }) => problem !== null).length;
  const chosen = effects.filter((effect) => problemOf(order, effect) === undefined);
  const repeated = chosen.filter((effect) => effect.repeated).length;
  await decide(office, [], async (tx) => {
    const write = async () => {
      const before = await sql.findRun(tx, run.id);
      const sums = before && {
        lines: meant.at(-1)?.line ?? before.lines,
        count: before.count + rows.length - left,
        repeated: before.repeated + (order.action === "goodwill" ? repeated : 0),
        startsAgain: before.startsAgain + chosen.filter((effect) => effect.startsAgain).length,
        duplicates: before.duplicates + meant.length - lines.length,
        problems: before.problems + left,
      };
      if (!(await sql.updateRun(tx, run, { ...sums, changedAt: office.by.at })))
        throw new Refused("conflict", "the list was read too slowly: send it again");
      await sql.putLines(tx, rows);
    };
    return { answer: undefined, change: { write, audit: [] } };
  });
  return rows.length;
}

/** Leaves out connections that the run already has. */
async function newLines({ store }: Office, { id }: BulkRunRow, meant: readonly MeantLine[]): Promise<MeantLine[]> {
  const cuids = new Set(meant.flatMap(({ meant: of }) => ("problem" in of ? [] : of.cuid)));
  const known = new Set((await sql.connectionsOfRun(store.engine.db, id, [...cuids])).map(nameOf));
  return meant.filter(({ meant: of }) => {
    if ("problem" in of) return true;
    const isNew = !known.has(nameOf(of));
    known.add(nameOf(of));
    return isNew;
  });
}
