import type { Ports } from "../../partner/ports.ts";
import type { SupervisorProcess } from "./processes.ts";

/** Counts look-ups in the supervisor, so that all workers share a partner's limits. */
export function askSupervisor({
  send,
  onMessage,
}: Pick<SupervisorProcess, "send" | "onMessage">): NonNullable<Ports["countLookUp"]> {
  const open = new Map<number, (wait: number) => void>();
  let lastId = 0;
  onMessage((message) => {
    if (message.kind !== "looked_up") return;
    open.get(message.id)?.(message.wait);
    open.delete(message.id);
  });
  return (lookUp) =>
    new Promise((resolve) => {
      lastId += 1;
      open.set(lastId, resolve);
      send({ kind: "look_up", id: lastId, lookUp });
    });
}
