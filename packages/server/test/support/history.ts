import * as prune from "../../src/office/maintenance/prune.ts";
import { officeOf } from "../../src/office/office.ts";
import type { Store } from "../../src/store/store.ts";
import { deskOf } from "./desk.ts";

/* History is deleted, up to any time. */

interface Opened {
  readonly store: Store;
  readonly now: number;
}

export function moveHorizon(opened: Opened, before: number): Promise<void> {
  return prune.moveHorizon(staffOf(opened), before);
}

export function pruneHistory(opened: Opened, before: number, preview = false): Promise<prune.Pruned> {
  return prune.pruneHistory(staffOf(opened, preview), before);
}

function staffOf({ store, now }: Opened, preview = false) {
  return officeOf(deskOf({ store, clock: () => now }, { name: "tester" }), { preview });
}
