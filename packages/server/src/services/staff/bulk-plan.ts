import { SERVICES } from "../../domain/bouquet.ts";
import type { BulkOrder, BulkOutcome } from "../../domain/bulk-correction.ts";
import type { ConnectionKey, Environment } from "../../domain/customer.ts";
import { portionsOf } from "../../domain/portions.ts";
import type { BulkEffect } from "../../store/changes.ts";
import { type Actor, correctingOf, type Ports, type ReadingPorts } from "../ports.ts";
import { refusalWords } from "./correction-words.ts";

/** More connections are a file for an import. */
export const MOST_BULK_CONNECTIONS = 20_000;

/** Connections that are corrected together: top-ups of a running service wait a tenth of a second at most. */
export const BULK_PORTION = 200;

export interface BulkRequest {
  readonly environment: Environment;
  readonly order: BulkOrder;
  readonly reason: string;
  /** Each a reqId, or a cuid, a service and a reqId. */
  readonly lines: readonly string[];
  /** All connections of this segment, beside those of the lines; undefined for none. */
  readonly segment: string | undefined;
  /** Leaves out whom staff gave goodwill in the last day: for a bulk change that was cut off. */
  readonly skipRepeated: boolean;
}

/** What would be done. */
export interface BulkPlan {
  readonly effects: readonly BulkEffect[];
  /** Lines of which nothing is done, and why. */
  readonly problems: readonly BulkProblem[];
}

export interface BulkProblem {
  readonly line: string;
  readonly problem: string;
}

/** Finds out which connections are meant, each once and none by a guess, and decides of each what would be done. */
export async function planBulk(
  ports: Pick<Ports, "store" | "clock">,
  actor: Actor,
  request: BulkRequest,
): Promise<BulkPlan | "too_many"> {
  const { order, reason, skipRepeated } = request;
  const meant = await findMeant(ports, request);
  const connections = [...meant.connections.values()];
  if (connections.length > MOST_BULK_CONNECTIONS) return "too_many";
  const effects: BulkEffect[] = [];
  const problems = [...meant.problems];
  const by = correctingOf(ports, actor, reason);
  for (const portion of portionsOf(connections, BULK_PORTION))
    for (const effect of await ports.store.corrections.bulk.preview(order, portion, by)) {
      const isSkipped = skipRepeated && order.action === "goodwill" && effect.repeated;
      const problem = isSkipped ? "was given goodwill in the last day" : bulkProblem(order, effect.outcome);
      if (problem === undefined) effects.push(effect);
      else problems.push({ line: lineOf(effect.connection), problem });
    }
  return { effects, problems };
}

/** Why nothing is done; undefined where something is. */
export function bulkProblem(order: BulkOrder, outcome: BulkOutcome): string | undefined {
  if (outcome.kind === "granted") return undefined;
  if (outcome.kind === "done" && outcome.audited !== undefined) return undefined;
  if (outcome.kind === "done") return order.action === "block" ? "is blocked already" : "is not blocked";
  if (outcome.kind === "not_found") return refusalWords({ kind: "no_connection" });
  return refusalWords(outcome, order.action === "goodwill" ? order.plan : undefined);
}

export function lineOf({ cuid, service, reqId }: ConnectionKey): string {
  return `${cuid} ${service} ${reqId}`;
}

interface Meant {
  /** By their lines. */
  readonly connections: Map<string, ConnectionKey>;
  readonly problems: BulkProblem[];
}

/** Names that are asked for together. */
const NAMES_AT_ONCE = 500;

async function findMeant(
  { store }: ReadingPorts,
  { environment, lines, segment }: Pick<BulkRequest, "environment" | "lines" | "segment">,
): Promise<Meant> {
  const meant: Meant = { connections: new Map(), problems: [] };
  const add = (key: ConnectionKey) => meant.connections.set(lineOf(key), key);
  const names = new Set<string>();
  for (const line of lines.map((each) => each.trim())) {
    const words = line.split(/[\s,]+/).filter(Boolean);
    const [first, second, reqId] = words;
    const service = SERVICES.find((known) => known === second);
    if (first === undefined) continue;
    if (words.length === 1) names.add(first);
    else if (words.length === 3 && service !== undefined && reqId !== undefined)
      add({ environment, cuid: first, service, reqId });
    else meant.problems.push({ line, problem: "must be a reqId, or a cuid, a service and a reqId" });
  }
  for (const some of portionsOf([...names], NAMES_AT_ONCE)) {
    const found = await store.search.findConnectionsNamed(environment, some);
    const byName = new Map<string, ConnectionKey[]>();
    for (const key of found) byName.set(key.reqId, [...(byName.get(key.reqId) ?? []), key]);
    for (const name of some) {
      const [connection, ...others] = byName.get(name) ?? [];
      if (connection === undefined)
        meant.problems.push({ line: name, problem: refusalWords({ kind: "no_connection" }) });
      else if (others.length > 0) meant.problems.push({ line: name, problem: severalWords([connection, ...others]) });
      else add(connection);
    }
  }
  if (segment !== undefined)
    for (const key of await store.search.listConnectionsOfSegment(environment, segment, MOST_BULK_CONNECTIONS + 1))
      add(key);
  return meant;
}

function severalWords(connections: readonly ConnectionKey[]): string {
  return `several connections may be meant: ${connections.map(lineOf).join("; ")}`;
}
