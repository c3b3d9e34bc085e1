import type { Attribution, AuditedChange } from "../domain/audit.ts";
import type { Correcting } from "../domain/correction.ts";
import type { Environment } from "../domain/customer.ts";
import type { NewEvent } from "../domain/event.ts";
import type { News } from "../domain/news.ts";
import { isTooLateToRecord } from "../domain/top-up.ts";
import { appendAudits } from "../store/audit.ts";
import type { Db } from "../store/engine.ts";
import { StoreUnavailable } from "../store/errors.ts";
import { appendEvents } from "../store/events.ts";
import type { Ports } from "../store/ports.ts";
import { tell } from "../store/takers.ts";

/** The part of the office that a decision needs. */
export interface Decider extends Pick<Ports, "store" | "clock"> {
  readonly by: Attribution;
  readonly isPreview: boolean;
}

/** Attributes a correction, with the time on the provider's wall. */
export function correctingBy({ by, store }: Pick<Decider, "by" | "store">): Correcting {
  const { author, authority, reason = "" } = by;
  return { author, authority, reason, at: store.provider.zone.moment(by.at) };
}

/** The rights of a session end with it; those of its account last while it has its role. */
export function beyondSession<Of extends Pick<Decider, "by">>(office: Of): Of {
  const { authority } = office.by;
  if (authority === undefined || !("staffId" in authority)) return office;
  return { ...office, by: { ...office.by, authority: { ...authority, sessionId: undefined } } };
}

/** Gives a transaction its own time: the request may have begun long before. */
export function atNow<Of extends Pick<Decider, "by" | "clock">>(office: Of): Of {
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
  readonly news?: readonly News[];
}

/**
 * Reads, decides and writes in one transaction; a preview reads and decides, without a lock. Takes the locks in this order:
 * customers, audit trail, events, rows of `due`.
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
    await appendAudits(engine, tx, change.audit, by);
    await appendEvents(engine, tx, change.events ?? []);
    await tell(tx, change.news ?? []);
    if (isOfCustomers && isTooLateToRecord(by.at, clock()))
      throw new StoreUnavailable("the correction took too long, and was not made: make it again");
    return answer;
  };
  return of === "reference" ? engine.change(inOrder) : engine.transact(inOrder);
}
