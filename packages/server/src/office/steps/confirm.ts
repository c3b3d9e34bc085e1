import { eventId, seqOfEventId } from "../../domain/event.ts";
import { Refused } from "../../domain/refused.ts";
import type { ServiceStep } from "../../domain/service-step.ts";
import { type Target, takesConnection } from "../../domain/target.ts";
import { eventsOf } from "../../store/events.ts";
import type { Ports } from "../../store/ports.ts";
import { confirmStep } from "../../store/service-steps.ts";

/** Said by the receiver of a webhook about an event that it accepted. */
interface Confirmation {
  readonly eventId: string;
  readonly state: "done" | "failed";
  readonly detail?: string | undefined;
}

/**
 * Records a confirmation, which stands for the earlier events of its connection too.
 * @param stepEnded called if an event is done that was not before.
 * @returns the state on record; `replaced` if a later event of the connection was sent already.
 * @throws Refused
 */
export async function confirmEvent(
  { store, clock }: Pick<Ports, "store" | "clock">,
  target: Target,
  { eventId: id, state, detail }: Confirmation,
  stepEnded?: (target: string, ms: number) => void,
): Promise<{ readonly state: "done" | "failed" | "replaced" }> {
  const { engine } = store;
  const [event] = await eventsOf(engine.db, [seqOfEventId(id) ?? 0]);
  const isTheirs = event !== undefined && eventId(event) === id && !("alert" in event);
  if (!isTheirs || event.at < target.createdAt || !takesConnection(target, event.key))
    throw new Refused("not_found", `${target.name} was sent no event ${id}, or it was deleted`);
  const { key, seq, kind, at } = event;
  const endedAt = clock();
  const times = { sentAt: undefined, acceptedAt: undefined, endedAt };
  const step: ServiceStep = { key, seq, kind, at, ...times, outcome: state, detail };
  const { isNew, last } = await engine.transact((tx) => confirmStep(tx, target.id, step));
  if (isNew && state === "done") stepEnded?.(target.name, endedAt - at);
  return { state: last > seq ? "replaced" : state };
}
