import type { Kysely } from "kysely";
import type { Static, TObject, TSchema } from "typebox";
import type { Attribution, AuditedChange } from "../domain/audit.ts";
import type { Correcting } from "../domain/correction.ts";
import type { Environment } from "../domain/customer.ts";
import type { NewEvent } from "../domain/event.ts";
import type { Authority } from "../domain/staff.ts";
import { isTooLateToRecord } from "../domain/top-up.ts";
import { appendAudit, lockTrail } from "../store/audit.ts";
import { StoreUnavailable } from "../store/errors.ts";
import { appendEvents } from "../store/events.ts";
import type { Ports } from "../store/ports.ts";
import type { Tables } from "../store/tables.ts";
import type { ServiceState } from "../system/service-state.ts";
import type { Uploads } from "./imports/uploads.ts";
import type { Limits } from "./limits.ts";
import type { AnswerOf, Operation } from "./operation.ts";
import type { AccountTools } from "./staff/passwords.ts";
import type { StatisticsCache } from "./statistics/cache.ts";
import type { TargetTools } from "./targets/radius.ts";

/** A transaction; or the database, if nothing is written. */
export type Db = Kysely<Tables>;

/** The account or shell that runs operations. */
export interface Actor {
  readonly name: string;
  /** Undefined for the command line, which has no account. */
  readonly authority?: Authority | undefined;
}

/** The parts that a face gives to every operation. */
export interface Desk extends Ports {
  readonly actor: Actor;
  /** Lowers the priority of the process, if possible. */
  readonly giveWay: () => void;
  readonly limits: Limits | undefined;
  readonly accounts: AccountTools;
  readonly targets: TargetTools;
  readonly uploads: Uploads;
  readonly statistics: StatisticsCache;
  readonly state: Readonly<ServiceState>;
  readonly currency: string | undefined;
  /** Runs long work. The service answers at once; a command waits until the work is done. */
  readonly goOn: (work: (ending: AbortSignal) => Promise<void>) => Promise<void>;
  /** Shows the progress of long work on a terminal. */
  readonly progress: (words: string) => void;
  /** Resolves early if the signal is aborted. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
}

/** Everything that an operation works with: the database, the outside, and the author. */
export interface Office extends Omit<Desk, "actor"> {
  readonly by: Attribution;
  readonly isPreview: boolean;
}

/** The part of the office that a decision needs. */
export type Decider = Pick<Office, "store" | "clock" | "by" | "isPreview">;

/** Runs an operation. @param input valid for its schema. @throws Refused */
export async function perform<Input extends TObject, Answer extends TSchema | undefined>(
  { run }: Operation<Input, Answer>,
  desk: Desk,
  input: Static<Input>,
): Promise<AnswerOf<Answer>> {
  return run(officeOf(desk, input as object), input);
}

/** Makes the office for one call. */
export function officeOf<Of extends Pick<Desk, "actor" | "store" | "clock">>(
  { actor, ...desk }: Of,
  input: object = {},
) {
  const { preview, reason } = input as { readonly preview?: boolean; readonly reason?: string };
  const by = { author: actor.name, authority: actor.authority, at: desk.clock(), reason: reason?.trim() };
  return { ...desk, by, isPreview: preview === true };
}

/** Attributes a correction, with the time on the provider's wall. */
export function correctingBy({ by, store }: Pick<Office, "by" | "store">): Correcting {
  const { author, authority, reason = "" } = by;
  return { author, authority, reason, at: store.provider.zone.moment(by.at) };
}

/** The rights of a session end with it; those of its account last while it has its role. */
export function beyondSession<Of extends Pick<Office, "by">>(office: Of): Of {
  const { authority } = office.by;
  if (authority === undefined || !("staffId" in authority)) return office;
  return { ...office, by: { ...office.by, authority: { ...authority, sessionId: undefined } } };
}

/** Gives a transaction its own time: the request may have begun long before. */
export function atNow<Of extends Pick<Office, "by" | "clock">>(office: Of): Of {
  return { ...office, by: { ...office.by, at: office.clock() } };
}

/** An answer, and the change to write for it. */
export interface Decision<Answer> {
  readonly answer: Answer;
  /** Undefined if nothing changes. */
  readonly change?: Change | undefined;
}

export interface Change {
  write(tx: Db): Promise<unknown>;
  readonly audit: readonly AuditedChange[];
  readonly events?: readonly NewEvent[];
}

/**
 * Reads, decides and writes in one transaction; a preview reads and decides, without a lock. Takes the locks in this order:
 * customers, audit trail, events.
 * @param of the customers whose state changes; or `reference` for data that every process keeps in memory.
 * @throws StoreUnavailable if the correction of a customer took too long.
 */
export async function decide<Answer>(
  { store: { engine }, by, isPreview, clock }: Decider,
  of: "reference" | readonly { readonly environment: Environment; readonly cuid: string }[],
  work: (tx: Db) => Promise<Decision<Answer>>,
): Promise<Answer> {
  if (isPreview) return (await work(engine.db)).answer;
  const isOfCustomers = of !== "reference" && of.length > 0;
  const inOrder = async (tx: Db) => {
    if (isOfCustomers) await engine.lockCustomers(tx, of);
    const { answer, change } = await work(tx);
    if (change === undefined) return answer;
    await change.write(tx);
    await lockTrail(engine, tx, by);
    for (const audited of change.audit) await appendAudit(engine, tx, audited, by);
    await appendEvents(engine, tx, change.events ?? []);
    if (isOfCustomers && isTooLateToRecord(by.at, clock()))
      throw new StoreUnavailable("the correction took too long, and was not made: make it again");
    return answer;
  };
  return of === "reference" ? engine.change(inOrder) : engine.transact(inOrder);
}
