import { type Observer, tell } from "../services/partner/observer.ts";
import type { RequestHearer } from "./reception.ts";

/**
 * Tells the observer of every request to an operation, and of every other that failed. Pages are left out: a
 * supervisor that asks for `/readyz` all day would drown the partners.
 */
export function observeRequests(observer: Observer): RequestHearer {
  return {
    ended: ({ caller, outcome }, reply, ending, route) => {
      const operation = route?.operation;
      const became = ending === "gave_up" ? ending : outcome;
      if (operation === undefined && became === undefined) return;
      const success = reply.hasHeader("idempotent-replayed") ? "replayed" : "success";
      tell(() => observer.requestAnswered(operation, caller, became ?? success, reply.elapsedTime / 1000));
    },
    refusedBare: (reason) => tell(() => observer.requestAnswered(undefined, undefined, reason, 0)),
  };
}
