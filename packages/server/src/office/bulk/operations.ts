import { type Static, Type } from "typebox";
import { bulkSteered, orderOf } from "../../domain/bulk.ts";
import { portionsOf } from "../../domain/portions.ts";
import { Refused } from "../../domain/refused.ts";
import type { Db } from "../../store/engine.ts";
import type { BulkLineRow, BulkRunRow } from "../../store/tables.ts";
import { numberCursor, PAGE, pageOf, readPage, runOf } from "../common.ts";
import { readNames } from "../customer-search.ts";
import { correctingBy, type Decision, decide } from "../decide.ts";
import { type Rows, rowsOf } from "../fields.ts";
import { countBulk } from "../limits.ts";
import type { Office } from "../office.ts";
import { type Operation, operation } from "../operation.ts";
import { endRequest } from "../second-person.ts";
import { table } from "../text.ts";
import { correctRun } from "./correct.ts";
import { type BulkEffect, decidePortion, keyOf, nameOf, PORTION } from "./plan.ts";
import { previewBulk, previewReversal, showLimits, showPlans, showSegments } from "./preview.ts";
import { CHANGE, isOfAuthor, OF_RUN, READ, RUN_COLUMNS, RUN_SHOWN, rightsOf, runData, theRun } from "./run.ts";
import { BulkLineSchema, BulkRunSchema, ExportedBulkLineSchema } from "./schemas.ts";
import { requestStart } from "./second-person.ts";
import * as sql from "./sql.ts";

/* Bulk changes: one correction of many connections. A preview is stored, and exactly its connections are corrected. */

const STEPS = {
  start: {
    from: ["checked"],
    to: "running",
    summary: "Start a bulk change as previewed; in the console and staff API, a large one waits for a second person",
  },
  pause: { from: ["running"], to: "paused", summary: "Pause a bulk change" },
  continue: { from: ["paused", "failed"], to: "running", summary: "Continue a bulk change that was paused or failed" },
  cancel: {
    from: ["waiting", "running", "paused"],
    to: "cancelled",
    summary: "Cancel a bulk change: corrections that were made stay",
  },
} as const;

type Step = keyof typeof STEPS;

/** Ctrl-C ends the command, but not the run. */
function shownAfter(run: Static<typeof BulkRunSchema>) {
  const note = `A service with a console continues it: topupd bulk pause ${run.id} stops it.\n`;
  return { out: table(RUN_SHOWN, [run]), ...(run.state === "running" && { note }) };
}

/** An operation that changes the state of a run. A run that is running by then is corrected after the answer. */
function stepOf(step: Step) {
  return operation({
    ...CHANGE,
    http: `POST /bulk/:id/${step}`,
    refuses: ["not_found", "conflict"],
    summary: STEPS[step].summary,
    input: Type.Object(OF_RUN),
    answer: BulkRunSchema,
    cli: [{ words: `bulk ${step}`, arguments: ["id"], show: shownAfter, examples: [`topupd bulk ${step} 7`] }],
    async run(office, { id }) {
      const { db } = office.store.engine;
      await decide(office, [], (tx) => decideStep(office, tx, id, step));
      await office.goOn((ending) => correctRun(office, id, ending));
      return runData(office, await theRun(db, id));
    },
  });
}

async function decideStep(office: Office, tx: Db, id: number, step: Step): Promise<Decision<undefined>> {
  const from: readonly BulkRunRow["state"][] = STEPS[step].from;
  const run = await theRun(tx, id);
  const { state, startedAt } = run;
  if (!from.includes(state)) throw new Refused("conflict", `this bulk change is ${state}`);
  if (step === "start") refuseStart(run, office.by.author);
  if (step === "continue") await countRest(office, tx, run);
  const rights = step === "continue" ? rightsOf(office) : {};
  const request = step === "start" ? await requestStart(office, tx, run) : undefined;
  const next = request === undefined ? STEPS[step].to : ("waiting" as const);
  const { at: now } = office.by;
  const changes = { state: next, startedAt: startedAt ?? now, changedAt: now, problem: null, ...rights };
  const write = async () => {
    if (state === "waiting") await refuseRequest(office, tx, id);
    if (!(await sql.updateRun(tx, { id, state }, changes)))
      throw new Refused("conflict", "this bulk change has changed meanwhile: look again");
    await request?.write(tx);
  };
  const audit = request?.audit ?? [bulkSteered(step, run, orderOf(run))];
  return { answer: undefined, change: { write, audit } };
}

function refuseStart(run: BulkRunRow, author: string): void {
  if (run.count === 0) throw new Refused("conflict", "there is nothing to do: a preview shows why");
  if (run.author !== author) throw new Refused("conflict", `this is the preview of ${run.author}: make your own`);
}

/** Counts the rest of a run that had other rights for its new author. */
async function countRest(office: Office, tx: Db, run: BulkRunRow): Promise<void> {
  if (isOfAuthor(office, run)) return;
  await countBulk(office, tx, { ...run, count: run.count - run.done });
}

/** Refuses the request to start a run that is cancelled. */
async function refuseRequest({ by }: Office, tx: Db, id: number): Promise<void> {
  const decision = { state: "refused", decidedBy: by.author, decidedAt: by.at } as const;
  await endRequest(tx, { kind: "bulk", subject: String(id) }, decision);
}

export const startBulk = stepOf("start");
export const pauseBulk = stepOf("pause");
export const continueBulk = stepOf("continue");
export const cancelBulk = stepOf("cancel");

export const listBulk = operation({
  ...READ,
  http: "GET /bulk",
  summary: "List bulk changes that were started, newest first",
  input: Type.Object(PAGE),
  answer: pageOf(BulkRunSchema),
  cli: [{ words: "bulk list", show: RUN_COLUMNS, examples: ["topupd bulk list"] }],
  async run(office, input) {
    const read = (limit: number) => sql.listRuns(office.store.engine.db, numberCursor(input), limit);
    const { items, cursor } = await readPage(input, read, ({ id }) => id);
    return { items: await Promise.all(items.map((each) => runData(office, each))), cursor };
  },
});

export const showBulk = operation({
  ...READ,
  http: "GET /bulk/:id",
  summary: "Show a bulk change and its progress",
  refuses: ["not_found"],
  input: Type.Object(OF_RUN),
  answer: BulkRunSchema,
  cli: [{ words: "bulk show", arguments: ["id"], show: RUN_SHOWN, examples: ["topupd bulk show 7"] }],
  run: async (office, { id }) => runData(office, await theRun(office.store.engine.db, id)),
});

export const listBulkLines = operation({
  ...READ,
  http: "GET /bulk/:id/lines",
  summary: "List the connections of a bulk change, or the lines that are left out",
  refuses: ["not_found"],
  input: Type.Object({
    ...OF_RUN,
    problems: Type.Optional(Type.Boolean({ description: "Lists the lines that are left out." })),
    ...PAGE,
  }),
  answer: pageOf(BulkLineSchema),
  async run(office, { id, problems = false, ...input }) {
    const { db } = office.store.engine;
    const run = await theRun(db, id);
    const read = (limit: number) => sql.linesAfter(db, id, { after: numberCursor(input) ?? 0, limit, problems });
    const { items, cursor } = await readPage(input, read, ({ number }) => number);
    return { items: await lineData(office, run, items), cursor };
  },
});

export const exportBulkLines = operation({
  ...READ,
  http: "GET /bulk/:id/lines.csv",
  summary: "Export all connections and lines of a bulk change, each with its outcome",
  refuses: ["not_found"],
  input: Type.Object(OF_RUN),
  answer: rowsOf(ExportedBulkLineSchema),
  cli: [{ words: "bulk lines", arguments: ["id"], examples: ["topupd bulk lines 7 --output lines.csv"] }],
  run: async ({ store }, { id }) => exported(store.engine.db, await theRun(store.engine.db, id)),
});

const LINES_AT_ONCE = 1_000;

async function* exported(db: Db, run: BulkRunRow): Rows<Static<typeof ExportedBulkLineSchema>> {
  for (let after = 0; ; ) {
    const lines = await sql.linesAfter(db, run.id, { after, limit: LINES_AT_ONCE });
    const last = lines.at(-1);
    if (last === undefined) return undefined;
    yield lines.map((line) => exportedLine(run, line));
    after = last.number;
  }
}

function exportedLine(run: BulkRunRow, { runId: _, number, ...line }: BulkLineRow) {
  const outcome = line.problem !== null ? "left_out" : number <= run.place ? "corrected" : "open";
  return { ...line, outcome } as const;
}

/** Lines with the names of their customers and, before the start, the effects of the correction. */
async function lineData(office: Office, run: BulkRunRow, lines: readonly BulkLineRow[]) {
  const { engine } = office.store;
  const isPreview = run.state === "checked" || run.state === "waiting";
  const names = await readNames(
    engine.db,
    run.environment,
    lines.flatMap(({ cuid }) => cuid ?? []),
  );
  const keys = lines.flatMap((line) => (isPreview && line.problem === null ? [keyOf(run, line)] : []));
  const effects = new Map<string, BulkEffect>();
  for (const some of portionsOf(keys, PORTION))
    for (const effect of await decidePortion(office.store, engine.db, orderOf(run), some, correctingBy(office)))
      effects.set(nameOf(effect.key), effect);
  return lines.map((line) => {
    const { outcome, repeated = false, startsAgain = false } = effects.get(nameOf(line)) ?? {};
    const { plan = line.plan, before, entry } = outcome && "correction" in outcome ? outcome.correction : {};
    const effect = { plan, before: runOf(before), after: runOf(entry?.after), repeated, startsAgain };
    return { ...exportedLine(run, line), customer: names.get(line.cuid ?? "") ?? null, ...effect };
  });
}

export const operations: readonly Operation[] = [
  ...[showSegments, showPlans, showLimits, previewBulk, previewReversal],
  ...[startBulk, pauseBulk, continueBulk, cancelBulk, listBulk, showBulk, listBulkLines, exportBulkLines],
];
