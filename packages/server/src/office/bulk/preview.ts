import { type Static, Type } from "typebox";
import { Refused } from "../../domain/refused.ts";
import { readWallSpan } from "../../domain/wall-time.ts";
import { ENVIRONMENT, environmentOf, ReasonSchema } from "../common.ts";
import { beyondSession, decide } from "../decide.ts";
import { leftToday } from "../limits.ts";
import type { Office } from "../office.ts";
import { operation } from "../operation.ts";
import { table } from "../text.ts";
import { failRun } from "./correct.ts";
import { type MeantLine, readGiven, readMeant } from "./lines.ts";
import { readList } from "./read.ts";
import { CHANGE, isReversible, OF_RUN, READ, RUN_SHOWN, rightsOf, runData, theRun } from "./run.ts";
import { BulkLimitsSchema, BulkRequestSchema, BulkRunSchema, PlansSchema, SegmentsSchema } from "./schemas.ts";
import * as sql from "./sql.ts";

/* A bulk change begins with a preview; these operations make it, and show what can be chosen. */

export const showSegments = operation({
  ...READ,
  http: "GET /segments",
  summary: "List segments with their numbers of connections",
  input: Type.Object(ENVIRONMENT),
  answer: SegmentsSchema,
  async run(office, input) {
    return { items: await sql.listSegments(office.store.engine.db, await environmentOf(office, input)) };
  },
});

export const showPlans = operation({
  ...READ,
  http: "GET /plans",
  summary: "List the plans that connections have or had, with the numbers of connections where they run",
  input: Type.Object(ENVIRONMENT),
  answer: PlansSchema,
  async run(office, input) {
    const { engine, provider } = office.store;
    const now = provider.zone.wallTime(office.by.at);
    return { items: await sql.listPlans(engine.db, await environmentOf(office, input), now) };
  },
});

export const showLimits = operation({
  ...CHANGE,
  http: "GET /bulk/limits",
  summary: "Show what you can still do in bulk today",
  input: Type.Object({}),
  answer: BulkLimitsSchema,
  run: (office) => leftToday(office, office.store.engine.db),
});

function shownPreview(run: Static<typeof BulkRunSchema>) {
  return { out: table(RUN_SHOWN, [run]), note: `topupd bulk start ${run.id} starts it.\n` };
}

export const previewBulk = operation({
  ...CHANGE,
  http: "POST /bulk",
  status: 202,
  summary: "Preview a bulk change: the list is read after the answer, and kept for an hour",
  input: BulkRequestSchema,
  answer: BulkRunSchema,
  cli: [
    {
      words: "bulk preview",
      summary: "read the list of a bulk change: bulk start then corrects its connections",
      arguments: ["action", "file"],
      show: shownPreview,
      examples: ["topupd bulk preview goodwill outage.txt --days 2 --reason outage"],
    },
  ],
  async run(office, { file, ...input }) {
    const { action } = input;
    if (action === "goodwill" && input.days === undefined) throw Refused.field("days", "is required");
    const { days = null, plan = null, runningAt = null } = action === "goodwill" ? input : {};
    const ran = runningAt === null ? undefined : readWallSpan(runningAt);
    if (runningAt !== null && (ran === undefined || ran[0] > office.store.provider.zone.wallTime(office.by.at)))
      throw Refused.field("runningAt", "must be a time that has passed, such as 2026-11-20 14:45:00 or 2026-11-20");
    const environment = await environmentOf(office, input);
    const order = { environment, action, days, plan, runningAt, reverses: null };
    const release = file.keep?.() ?? (async () => {});
    return preview(office, order, readMeant(office.store, environment, file.open()), release);
  },
});

export const previewReversal = operation({
  ...CHANGE,
  http: "POST /bulk/:id/reversal",
  status: 202,
  refuses: ["not_found", "conflict"],
  summary: "Preview the reversal of all goodwill of a bulk change: it is a bulk change itself",
  input: Type.Object({ ...OF_RUN, reason: ReasonSchema }),
  answer: BulkRunSchema,
  cli: [
    {
      words: "bulk reverse",
      arguments: ["id"],
      show: shownPreview,
      examples: ['topupd bulk reverse 7 --reason "wrong list"'],
    },
  ],
  async run(office, { id }) {
    const run = await theRun(office.store.engine.db, id);
    const { environment, action, state } = run;
    if (!isReversible(run))
      throw new Refused("conflict", `only goodwill can be reversed, once it is over: this ${action} is ${state}`);
    const order = { action: "reverse_goodwill", days: null, plan: null, runningAt: null, reverses: id } as const;
    return preview(office, { environment, ...order }, readGiven(office.store, { id, environment }));
  },
});

/** Stores a preview, and reads its list after the answer. */
async function preview(
  office: Office,
  order: Omit<Parameters<typeof sql.newRun>[1], "reason" | keyof ReturnType<typeof rightsOf>>,
  list: AsyncIterable<readonly MeantLine[]>,
  release = async () => {},
) {
  const account = beyondSession(office);
  const { reason = "" } = office.by;
  const run = await decide(office, "reference", async (tx) => {
    const answer = await sql.newRun(tx, { ...order, reason, ...rightsOf(account) }, office.by.at);
    return { answer, change: { write: () => sql.insertRun(tx, answer), audit: [] } };
  });
  await office.goOn(async (ending) => {
    try {
      await readList(account, run, list, ending);
    } catch (error) {
      await failRun(office, run, error);
    } finally {
      await release();
    }
  });
  return runData(office, await theRun(office.store.engine.db, run.id));
}
