import { Type } from "typebox";
import { hashSecret } from "../../domain/access-token.ts";
import type { AuditedChange } from "../../domain/audit.ts";
import { Refused } from "../../domain/refused.ts";
import { STAFF_SECRET_RANDOM_BYTES } from "../../domain/staff.ts";
import { formatTargetKey, rotateSecrets, type Target, type TargetConfig } from "../../domain/target.ts";
import * as audited from "../../domain/target-audit.ts";
import { isoTime } from "../../domain/wall-time.ts";
import { findFailed, sendFailedAgain } from "../../store/due.ts";
import type { Db } from "../../store/engine.ts";
import { flag } from "../../store/rows.ts";
import { openSessions } from "../../store/sessions-due.ts";
import { onePage, pageOf } from "../common.ts";
import { type Change, decide } from "../decide.ts";
import type { Office } from "../office.ts";
import { type Operation, operation } from "../operation.ts";
import { count } from "../text.ts";
import { eventToResend, listDeliveries, resendFact, testTarget } from "./deliveries.ts";
import { listEvents } from "./events.ts";
import {
  detailData,
  detailLines,
  failedData,
  failedFactData,
  failedLines,
  keyLines,
  MOST_FAILED,
  rotatedLines,
  statusesOfSystems,
  TARGET_COLUMNS,
  targetData,
} from "./presenter.ts";
import { configOf, refuseSameDatabase } from "./radius.ts";
import * as schemas from "./schemas.ts";
import * as sql from "./sql.ts";

/* Targets: the provider's systems that receive events. */

const READS = { tag: "Targets and events", permission: "read" } as const;
const CHANGES = { tag: "Targets and events", permission: "administer" } as const;
const NAMED = Type.Object(schemas.NAME);
const BY_NAME = { arguments: ["name"] } as const;

export const listTargets = operation({
  ...READS,
  http: "GET /targets",
  summary: "List targets with their progress",
  input: Type.Object({}),
  answer: pageOf(schemas.TargetSchema),
  cli: [{ words: "target list", show: TARGET_COLUMNS, examples: ["topupd target list", "topupd target list --json"] }],
  run: async ({ store, clock }) =>
    onePage((await statusesOfSystems(store.engine.db)).map((each) => targetData(each, clock()))),
});

export const showTarget = operation({
  ...READS,
  http: "GET /targets/:name",
  refuses: ["not_found"],
  summary: "Show a target, its progress and, for billing, the time for --as-of",
  input: NAMED,
  answer: schemas.TargetDetailSchema,
  cli: [{ ...BY_NAME, words: "target show", show: detailLines, examples: ["topupd target show billing --json"] }],
  async run({ store, clock }, { name }) {
    const { engine } = store;
    const [target, now] = [await sql.targetNamed(engine.db, name), clock()];
    // A top-up decided more than a minute ago is recorded, or never will be; but a commit may wait for a standby.
    if (target.billing) await engine.awaitCommits();
    const [progress, open] = [await sql.readProgress(engine.db, target), await openSessions(engine.db, target.id, now)];
    return detailData({ target, progress }, open, now);
  },
});

/** The shell has its own command, since the flags depend on the kind. */
export const addTarget = operation({
  ...CHANGES,
  http: "POST /targets",
  status: 201,
  isSecret: true,
  refuses: ["conflict"],
  summary: "Add a target that gets all events from now on: a feed, unless webhook or radius is given",
  input: schemas.AddTargetSchema,
  answer: schemas.AddedTargetSchema,
  async run(office, input) {
    const { name, billing = false } = input;
    const config = configOf(input, office.store.provider);
    const { target, secret } = await addTo(office, { name, partner: undefined, config, billing });
    return { target: await shown(office, target), secret: secret ?? null };
  },
});

/** Adds a target. @param field of its address, if the input has another name for it. @throws Refused */
export async function addTo(
  office: Office,
  { name, config, ...of }: Pick<Target, "name" | "partner" | "config" | "billing">,
  field?: string,
): Promise<{ readonly target: Target; readonly secret: string | undefined }> {
  const { store, targets, by } = office;
  await refuseAddress(office, config, field);
  const secret = config.kind === "webhook" ? await targets.newSecret() : undefined;
  const secrets = secret === undefined ? [] : [{ secret, until: undefined }];
  const target = await decide(office, "reference", async (tx) => {
    const taken = new Refused("conflict", `there is a target named ${name} already`);
    if ((await sql.findTarget(tx, name)) !== undefined) throw taken;
    await refuseSameDatabase(tx, config);
    const state = { paused: false, gone: false, createdAt: by.at, resentAt: undefined };
    const added = { id: await sql.newTargetId(tx, by.at), name, config, ...of, secrets, ...state };
    return changed(added, () => sql.insertTarget(tx, added), audited.targetAdded(added));
  });
  // A batch that began earlier may still commit, without an event for this target.
  await store.engine.awaitCommits();
  return { target, secret };
}

/** @throws Refused */
export async function refuseAddress({ targets }: Office, config: TargetConfig, field?: string): Promise<void> {
  const problem = await targets.problemOf(config);
  if (problem !== undefined) throw Refused.field(field ?? problem.field, problem.problem);
}

export const pauseTarget = operation({
  ...CHANGES,
  http: "PATCH /targets/:name",
  refuses: ["not_found"],
  summary: "Pause a target, or resume it from its place",
  input: Type.Object({
    ...schemas.NAME,
    paused: Type.Boolean({ description: "True pauses the target; false resumes it." }),
  }),
  answer: schemas.TargetSchema,
  cli: (["pause", "resume"] as const).map((verb) => ({
    ...BY_NAME,
    words: `target ${verb}`,
    given: { paused: verb === "pause" },
    show: TARGET_COLUMNS,
    summary:
      verb === "pause"
        ? "send a target nothing until it is resumed: events are kept for it, 30 days at most unless it is billing"
        : "resume a paused target from its place",
    examples: [`topupd target ${verb} tv`],
  })),
  async run(office, { name, paused }) {
    const after = await decide(office, "reference", async (tx) => {
      const target = await sql.targetNamed(tx, name);
      if (target.paused === paused) return { answer: target };
      const write = () => sql.updateTarget(tx, target, { paused: flag(paused), gone: flag(false) });
      return changed({ ...target, paused, gone: false }, write, audited.targetPausedSet(target, paused));
    });
    return shown(office, after);
  },
});

export const removeTarget = operation({
  ...CHANGES,
  http: "DELETE /targets/:name",
  refuses: ["not_found"],
  summary: "Remove a target and its undelivered events",
  input: NAMED,
  cli: [
    {
      ...BY_NAME,
      words: "target remove",
      examples: ["topupd target remove tv"],
      show: () => ({ out: "The target is removed.\n" }),
    },
  ],
  run: (office, { name }) =>
    decide(office, "reference", async (tx) => {
      const target = await sql.targetNamed(tx, name);
      return changed(undefined, () => sql.deleteTarget(tx, target), audited.targetRemoved(target));
    }),
});

export const rotateTargetSecret = operation({
  ...CHANGES,
  http: "POST /targets/:name/rotation",
  isSecret: true,
  refuses: ["not_found", "conflict"],
  summary: "Replace a webhook's secret; the new one is shown once, the previous one also signs for 24 hours",
  input: NAMED,
  answer: schemas.RotatedSecretSchema,
  cli: [{ ...BY_NAME, words: "target rotate", show: rotatedLines, examples: ["topupd target rotate tv"] }],
  async run(office, { name }) {
    const secret = await office.targets.newSecret();
    return decide(office, "reference", async (tx) => {
      const target = await sql.targetNamed(tx, name);
      if (target.config.kind !== "webhook") throw new Refused("conflict", `${name} is no webhook, and has no secret`);
      const secrets = rotateSecrets(target.secrets, secret, office.by.at);
      const write = () => sql.updateTarget(tx, target, { secrets: JSON.stringify(secrets) });
      const formerUntil = isoTime(secrets[1]?.until ?? office.by.at);
      return changed({ secret, formerUntil }, write, audited.targetRotated({ ...target, secrets }));
    });
  },
});

export const makeTargetKey = operation({
  ...CHANGES,
  http: "POST /targets/:name/key",
  isSecret: true,
  refuses: ["not_found", "conflict"],
  summary:
    "Make the key by which a webhook's receiver confirms events; it is shown once, and replaces the previous one",
  input: NAMED,
  answer: schemas.TargetKeySchema,
  cli: [{ ...BY_NAME, words: "target key", show: keyLines, examples: ["topupd target key tv"] }],
  async run(office, { name }) {
    const key = formatTargetKey(office.random(STAFF_SECRET_RANDOM_BYTES));
    return decide(office, "reference", async (tx) => {
      const target = await sql.targetNamed(tx, name);
      if (target.config.kind !== "webhook" || target.partner !== undefined)
        throw new Refused("conflict", `${name} is no webhook`);
      const write = () => sql.updateTarget(tx, target, { keyHash: hashSecret(key) });
      return changed({ key }, write, audited.targetHandled("target.key", target));
    });
  },
});

export const resendToTarget = operation({
  ...CHANGES,
  http: "POST /targets/:name/resend",
  refuses: ["not_found", "conflict"],
  summary: "Retry all failed events now, also those set aside; or send one event again",
  input: Type.Object({
    ...schemas.NAME,
    event: Type.Optional(
      Type.String({ description: "Id of the only event to send again, in its order, also if it was delivered." }),
    ),
  }),
  answer: Type.Object({ resent: Type.Integer({ description: "Number of events." }) }),
  cli: [
    {
      ...BY_NAME,
      words: "target resend",
      examples: ["topupd target resend tv", "topupd target resend tv --event evt_1795413600000_7"],
      show: ({ resent }: { readonly resent: number }) => ({ out: `${count(resent, "event")} will be sent again.\n` }),
    },
  ],
  run: (office, { name, event: id }) =>
    decide(office, "reference", async (tx) => {
      const target = await sql.targetNamed(tx, name);
      if (target.partner !== undefined) return resendToPartner(office, tx, target, id);
      if (id !== undefined) {
        const event = await eventToResend(tx, target, id);
        const write = () => sql.resendOne(tx, target, event, office.by.at);
        return changed({ resent: 1 }, write, audited.targetResent(target, 1, id));
      }
      const resent = await sql.countDeliveries(tx, target);
      const write = () => sql.resendAll(tx, target, office.by.at);
      return {
        answer: { resent },
        change: { write, audit: resent === 0 ? [] : [audited.targetResent(target, resent)] },
      };
    }),
});

async function resendToPartner({ store, by: { at } }: Office, tx: Db, target: Target, id: string | undefined) {
  if (id !== undefined)
    return changed({ resent: 1 }, await resendFact(tx, target, id, at), audited.targetResent(target, 1, id));
  const resent = await sendFailedAgain(store.engine, tx, target.id, at);
  const audit = resent === 0 ? [] : [audited.targetResent(target, resent)];
  return { answer: { resent }, change: { write: async () => {}, audit } };
}

export const listFailedDeliveries = operation({
  ...READS,
  http: "GET /targets/:name/failed",
  refuses: ["not_found"],
  summary: "List failed and set-aside events, and those that wait behind them: the oldest thousand",
  input: NAMED,
  answer: pageOf(schemas.FailedDeliverySchema),
  cli: [
    {
      ...BY_NAME,
      words: "target failed",
      show: failedLines,
      examples: ["topupd target failed tv", "topupd target failed tv --json"],
    },
  ],
  async run({ store: { engine } }, { name }) {
    const target = await sql.targetNamed(engine.db, name);
    if (target.partner !== undefined) {
      const partner = await sql.partnerNameOf(engine.db, target.partner);
      const failed = await findFailed(engine.db, target.id, MOST_FAILED);
      return onePage(failed.map((row) => failedFactData(row, partner)));
    }
    return onePage((await sql.failedDeliveries(engine.db, target, MOST_FAILED)).map(failedData));
  },
});

export function changed<Answer>(answer: Answer, write: Change["write"], audit: AuditedChange) {
  return { answer, change: { write, audit: [audit] } };
}

export async function shown({ store: { engine }, clock }: Office, target: Target) {
  return targetData({ target, progress: await sql.readProgress(engine.db, target) }, clock());
}

export const operations: readonly Operation[] = [
  listTargets,
  showTarget,
  addTarget,
  pauseTarget,
  removeTarget,
  rotateTargetSecret,
  makeTargetKey,
  resendToTarget,
  listFailedDeliveries,
  listDeliveries,
  testTarget,
  listEvents,
];
