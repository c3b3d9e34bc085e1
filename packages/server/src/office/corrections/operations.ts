import { type Static, Type } from "typebox";
import * as decided from "../../domain/correction.ts";
import { eventsBetween } from "../../domain/event.ts";
import { findConnection, findConnectionWithHeads } from "../../store/customers.ts";
import { connectionMeant, noConnection } from "../customers/find.ts";
import { correctingBy, decide } from "../decide.ts";
import { countToday } from "../limits.ts";
import { type Operation, operation } from "../operation.ts";
import { changeOf, correct, effectOf } from "./correct.ts";
import { reverseTransaction } from "./reversal.ts";
import { BlockEffectSchema, CORRECTION, DaysSchema, GOODWILL, GoodwillEffectSchema } from "./schemas.ts";
import { writeBlock } from "./sql.ts";
import { goodwillLines, notCorrected } from "./words.ts";

const AS = { tag: "Corrections", permission: "correct", refuses: ["not_found", "conflict"] } as const;
const BY_NAME = { arguments: ["service", "reqId"] } as const;

export const grantGoodwill = operation({
  ...AS,
  http: "POST /customers/:cuid/goodwill",
  summary: "Give a subscription goodwill days",
  input: Type.Object({ ...GOODWILL, days: DaysSchema }),
  answer: GoodwillEffectSchema,
  cli: [
    {
      ...BY_NAME,
      words: "subscription goodwill",
      show: goodwillLines("granted"),
      examples: ['topupd subscription goodwill internet maya.rai --days 3 --reason "outage"'],
    },
  ],
  async run(office, input) {
    const { days, plan } = input;
    const key = await connectionMeant(office, input);
    return correct(office, key, async (tx, ledgers) => {
      const connection = await findConnection(tx, key, ledgers);
      const found = decided.grantGoodwill(
        connection,
        ledgers,
        { ...key, days, plan },
        correctingBy(office),
        office.store.provider.basePlans,
      );
      if (found.kind !== "granted") throw notCorrected(found, { ...input, ...key });
      await countToday(office, tx, "goodwillDays", days);
      const answer = { ...key, days, ...effectOf(found.correction) };
      return { answer, change: await changeOf(office, tx, ledgers, found.correction) };
    });
  },
});

export const reverseGoodwill = operation({
  ...AS,
  http: "POST /customers/:cuid/goodwill-reversal",
  summary: "Reverse goodwill, the last or a given one",
  input: Type.Object({
    ...GOODWILL,
    seq: Type.Optional(
      Type.Integer({ minimum: 1, description: "Ledger entry to reverse (default: the newest goodwill)." }),
    ),
  }),
  answer: GoodwillEffectSchema,
  cli: [
    {
      ...BY_NAME,
      words: "subscription reverse-goodwill",
      show: goodwillLines("reversed"),
      examples: ['topupd subscription reverse-goodwill internet maya.rai --reason "typo"'],
    },
  ],
  async run(office, input) {
    const { plan, seq } = input;
    const key = await connectionMeant(office, input);
    return correct(office, key, async (tx, ledgers) => {
      const found = decided.reverseGoodwill(ledgers, { ...key, plan, seq }, correctingBy(office));
      if (found.kind !== "reversed") throw notCorrected(found, input);
      const answer = { ...key, days: found.days, ...effectOf(found.correction) };
      return { answer, change: await changeOf(office, tx, ledgers, found.correction) };
    });
  },
});

export const blockConnection = operation({
  ...AS,
  http: "POST /customers/:cuid/block",
  summary: "Block a connection until staff unblock it, or unblock it",
  input: Type.Object({
    ...CORRECTION,
    blocked: Type.Boolean({ description: "True blocks the connection; false unblocks it." }),
  }),
  answer: BlockEffectSchema,
  cli: (["block", "unblock"] as const).map((verb) => ({
    ...BY_NAME,
    words: `connection ${verb}`,
    given: { blocked: verb === "block" },
    summary:
      verb === "block"
        ? "keep a connection from being listed and topped up, until unblocked"
        : "let a connection that staff have blocked be topped up again",
    examples: [`topupd connection ${verb} internet maya.rai --reason "as the customer asks"`],
    show({ cuid, service, reqId, changed }: Static<typeof BlockEffectSchema>) {
      return { out: `${service} ${reqId} of customer ${cuid} ${changed ? "is now" : "was already"} ${verb}ed\n` };
    },
  })),
  async run(office, input) {
    const { blocked } = input;
    const key = await connectionMeant(office, input);
    return decide(office, [key], async (tx) => {
      const connection = await findConnectionWithHeads(tx, key);
      const found = decided.decideBlock(connection, key, blocked);
      if (connection === undefined) throw noConnection(input);
      if (found.kind !== "done") throw notCorrected(found, input);
      const { audited } = found;
      const answer = { ...key, blocked, changed: audited !== undefined };
      if (audited === undefined) return { answer };
      const by = correctingBy(office);
      const events = eventsBetween(key, connection, { ...connection, blocked }, by.at);
      return { answer, change: { write: () => writeBlock(tx, key, blocked, by), audit: [audited], events } };
    });
  },
});

export const operations: readonly Operation[] = [grantGoodwill, reverseGoodwill, blockConnection, reverseTransaction];
