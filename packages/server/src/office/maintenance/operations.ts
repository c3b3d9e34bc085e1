import { type Static, Type } from "typebox";
import { secretRotated } from "../../domain/audit.ts";
import { CHECKOUT_KEY_BYTES, rotation, SECRET_REST_MS, sealingSecret } from "../../domain/checkout.ts";
import { Refused } from "../../domain/refused.ts";
import { type Instant, isoTime, type Period, plus, readDay, type Zone } from "../../domain/wall-time.ts";
import { listSecrets } from "../../store/access.ts";
import type { ProviderSettings } from "../../store/store.ts";
import { InstantSchema, oneOf, onePage, PREVIEW, pageOf, ReasonSchema } from "../common.ts";
import { decide } from "../decide.ts";
import { type Operation, operation, type Shown } from "../operation.ts";
import { count, fieldLines } from "../text.ts";
import { checkWhole } from "./backups.ts";
import { moveHorizon, pruneHistory } from "./prune.ts";

/* Maintenance of the database. Only the shell has it, since it takes long or cannot be undone. */

const READS = { tag: "Maintenance", permission: "read" } as const;
const CHANGES = { tag: "Maintenance", permission: "administer" } as const;

export const checkDatabase = operation({
  ...READS,
  summary: "Verify the database: integrity, and every subscription against its ledger",
  input: Type.Object({}),
  answer: Type.Object({
    ok: Type.Boolean({ description: "True if no fault was found." }),
    checked: Type.Array(Type.Object({ what: Type.String(), count: Type.Integer() })),
    wrong: Type.Array(Type.String()),
  }),
  cli: [
    {
      words: "check",
      summary:
        "verify the database: integrity, and every subscription against its ledger (exit code 3: something is wrong)",
      examples: ["topupd check", "topupd check --database sqlite:./topupd-backup.db"],
      show: checkLines,
    },
  ],
  async run(office) {
    const { checked, wrong } = await checkWhole(office);
    return { ok: wrong.length === 0, checked, wrong };
  },
});

interface Report {
  readonly checked: readonly { readonly what: string; readonly count: number }[];
  readonly wrong: readonly string[];
}

function checkLines({ checked, wrong }: Report): Shown {
  const lines = [
    ...checked.map(({ what, count: number }) => `ok     ${what} (${number})\n`),
    ...wrong.map((what) => `WRONG  ${what}\n`),
  ];
  const finding = `the database is not in order: ${count(wrong.length, "finding")}`;
  return { out: lines.join(""), wrong: wrong.length === 0 ? undefined : finding };
}

/** Days of history that always stay: imported records may be 35 days old, and partners settle by month. */
const SHORTEST_RETENTION_DAYS = 62;

const PrunedSchema = Type.Object({
  before: InstantSchema,
  preview: Type.Boolean(),
  ledgerEntries: Type.Integer(),
  topUps: Type.Integer(),
  retiredCheckouts: Type.Integer(),
});

export const prune = operation({
  ...CHANGES,
  summary: "Delete old history permanently, as far as no subscription needs it",
  input: Type.Object({
    olderThan: Type.String({ description: "Age in years, months or days: 7y, 18m, 400d." }),
    reason: Type.Optional(ReasonSchema),
    ...PREVIEW,
  }),
  answer: PrunedSchema,
  cli: [
    {
      words: "prune",
      show: prunedLines,
      examples: ["topupd prune --older-than 7y --preview", 'topupd prune --older-than 7y --reason "books of 2019"'],
    },
  ],
  async run(office, { olderThan }) {
    const age = readAge(olderThan);
    if (age === undefined) throw Refused.field("olderThan", "must be an age such as 7y, 18m or 400d");
    const before = startOfRetention(age, office.by.at, office.store.provider.zone);
    if (before === undefined) throw Refused.field("olderThan", `must be at least ${SHORTEST_RETENTION_DAYS} days`);
    office.giveWay();
    await moveHorizon(office, before);
    const { entries: ledgerEntries, topUps, retiredCheckouts } = await pruneHistory(office, before);
    return { before: isoTime(before), preview: office.isPreview, ledgerEntries, topUps, retiredCheckouts };
  },
});

function prunedLines(pruned: Static<typeof PrunedSchema>, { zone }: ProviderSettings): Shown {
  const { before, preview, ledgerEntries, topUps, retiredCheckouts } = pruned;
  const since = `what may be deleted from before ${zone.wallTime(Date.parse(before))} (${zone.name})`;
  const out = fieldLines([
    [preview ? "would go" : "gone", since],
    ["ledger entries", String(ledgerEntries)],
    ["top-ups", String(topUps)],
    ["retired checkouts", String(retiredCheckouts)],
  ]);
  return preview ? { out } : { out, note: "Older backups and exports still contain the deleted history.\n" };
}

/** Longest age in each unit: a hundred years. */
const LONGEST_AGE: Readonly<Record<string, number>> = { y: 100, m: 1_200, d: 36_600 };

/** Reads an age such as `7y`, `18m` or `400d`; undefined for any other text. */
export function readAge(text: string): Period | undefined {
  const [, digits = "", unit = ""] = /^([1-9][0-9]{0,4})([ymd])$/.exec(text) ?? [];
  const number = Number(digits);
  if (digits === "" || number > (LONGEST_AGE[unit] ?? 0)) return undefined;
  return unit === "d" ? { months: 0, days: number } : { months: unit === "y" ? number * 12 : number, days: 0 };
}

/** Start of the day that is this long ago; undefined if the age is too short. */
function startOfRetention({ months, days }: Period, now: Instant, zone: Zone): Instant | undefined {
  const today = zone.wallTime(now);
  const first = plus(today, { months: -months, days: -days }).slice(0, 10);
  const last = plus(today, { months: 0, days: -SHORTEST_RETENTION_DAYS }).slice(0, 10);
  return first > last ? undefined : readDay(first, zone)?.start;
}

export const listCheckoutSecrets = operation({
  ...READS,
  summary: "List the secrets that seal checkoutIds, newest first; values are not shown",
  input: Type.Object({}),
  answer: pageOf(
    Type.Object({
      id: Type.Integer(),
      state: oneOf(["new", "sealing", "former"], "`new`: it does not seal yet; `former`: it opens what it has sealed."),
      createdAt: InstantSchema,
    }),
  ),
  cli: [{ words: "secret list", show: ["id", "state", "createdAt"], examples: ["topupd secret list"] }],
  async run({ store, clock }) {
    const secrets = await store.checkoutSecrets();
    const sealing = secrets.indexOf(sealingSecret(secrets, clock()));
    const stateAt = (index: number) => (index === sealing ? "sealing" : index < sealing ? "new" : "former");
    return onePage(
      secrets.map(({ id, createdAt }, index) => ({ id, state: stateAt(index), createdAt: isoTime(createdAt) })),
    );
  },
});

export const rotateCheckoutSecret = operation({
  ...CHANGES,
  summary: "Seal new checkoutIds with a new secret; issued ones stay valid for their five minutes",
  input: Type.Object({}),
  answer: Type.Object({ id: Type.Integer(), sealsFrom: InstantSchema }),
  cli: [
    {
      words: "secret rotate",
      examples: ["topupd secret rotate"],
      show: ({ id, sealsFrom }: { readonly id: number; readonly sealsFrom: string }) => {
        return { out: `The new secret ${id} seals from ${sealsFrom} on.\n` };
      },
    },
  ],
  async run(office) {
    const key = office.random(CHECKOUT_KEY_BYTES);
    return decide(office, "reference", async (tx) => {
      const rotated = rotation(await listSecrets(tx), key, office.by.at);
      if (rotated === "too_soon")
        throw new Refused("conflict", "too many secrets may still be in use: rotate again in a quarter of an hour");
      const { id, createdAt } = rotated.added;
      const values = { key, createdAt };
      const insert = tx.insertInto("checkoutSecret").values({ id, ...values });
      const write = () => insert.onConflict((on) => on.column("id").doUpdateSet(values)).execute();
      const answer = { id, sealsFrom: isoTime(createdAt + SECRET_REST_MS) };
      return { answer, change: { write, audit: [secretRotated(rotated)] } };
    });
  },
});

export const operations: readonly Operation[] = [checkDatabase, prune, listCheckoutSecrets, rotateCheckoutSecret];
