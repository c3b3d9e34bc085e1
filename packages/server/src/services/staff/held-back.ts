import type { Environment } from "../../domain/customer.ts";
import type { SharedName } from "../../domain/customer-audit.ts";
import { type JsonObject, readJson } from "../../domain/json.ts";
import type { GoodwillReading } from "../../domain/ledger.ts";
import type { HeldBackRecord } from "../../store/staff.ts";
import { type Actor, attributionOf, type Ports, type ReadingPorts } from "../ports.ts";
import { type CustomerImported, importCustomer } from "./import-customer.ts";

export interface ListHeldBackRequest {
  readonly environment: Environment;
  /** The number of the former page's last one; undefined for the first page. */
  readonly after: number | undefined;
  readonly limit: number;
}

/** What the last customers file would have ended though it was paid for, in the order of the file. */
export function listHeldBack(
  { store }: ReadingPorts,
  { environment, after, limit }: ListHeldBackRequest,
): Promise<readonly (HeldBackRecord & { readonly id: number })[]> {
  return store.importRuns.listHeldBack(environment, { after, limit });
}

export interface HeldBackDecision {
  readonly id: number;
  /** `take`: the file is right, and all that it says of the customer holds. `leave`: what was paid for stays. */
  readonly decision: "take" | "leave";
  /** Whether the file's records hold goodwill; needed to take a row that was held back since nobody said it. */
  readonly goodwill?: GoodwillReading | undefined;
}

export type HeldBackSettled =
  | { readonly kind: "settled" }
  | { readonly kind: "not_found" }
  /** A row of a later moment was taken for the customer since. */
  | { readonly kind: "stale" }
  | { readonly kind: "goodwill_unclear" }
  /** A connection of the row is another customer's by now. */
  | ({ readonly kind: "shared" } & SharedName)
  | { readonly kind: "refused"; readonly problem: string };

/** Settles all that was held back of a customer: a row is taken whole, or left. */
export async function settleHeldBack(
  ports: Ports,
  actor: Actor,
  { id, decision, goodwill }: HeldBackDecision,
): Promise<HeldBackSettled> {
  const { importRuns } = ports.store;
  const found = await importRuns.findHeldBack(id);
  if (found === undefined) return { kind: "not_found" };
  const { environment, cuid } = found;
  if (decision === "leave") {
    await importRuns.settleHeldBack(environment, cuid, attributionOf(ports, actor));
    return { kind: "settled" };
  }
  const row = readJson(found.sourceRow) as JsonObject;
  // That its records may be old was said when the file was imported.
  const request = { environment, row, goodwill, oldRecords: true, allowShorter: true };
  const lay = async (dryRun: boolean) => refusalOf(await importCustomer(ports, actor, { ...request, dryRun }));
  // Checked first: where one subscription cannot be taken, none is.
  const refused = (await lay(true)) ?? (await lay(false));
  if (refused !== undefined) return refused;
  await importRuns.settleHeldBack(environment, cuid, undefined);
  return { kind: "settled" };
}

function refusalOf(imported: CustomerImported): HeldBackSettled | undefined {
  if (imported.kind === "as_of_refused") return { kind: "refused", problem: `asOf ${imported.problem}` };
  if (imported.kind === "bad_row") {
    const problem = imported.problems.map((each) => `${each.field} ${each.problem}`).join(", ");
    return { kind: "refused", problem };
  }
  const { effect } = imported;
  if (effect.shared !== undefined) return { kind: "shared", ...effect.shared };
  if (effect.isStale) return { kind: "stale" };
  return effect.heldBack.length > 0 ? { kind: "goodwill_unclear" } : undefined;
}
