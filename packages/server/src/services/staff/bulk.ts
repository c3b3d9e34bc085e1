import type { BulkOrder } from "../../domain/bulk-correction.ts";
import type { ConnectionKey } from "../../domain/customer.ts";
import { portionsOf } from "../../domain/portions.ts";
import { type Actor, beyondSession, correctingOf, type Ports } from "../ports.ts";
import { BULK_PORTION, type BulkProblem, type BulkRequest, bulkProblem, lineOf, planBulk } from "./bulk-plan.ts";

/** A bulk correction, as far as it is. */
export interface BulkRun {
  readonly id: string;
  readonly action: BulkOrder["action"];
  readonly author: string;
  readonly state: "running" | "done" | "failed";
  /** Of `count` connections. */
  readonly done: number;
  readonly count: number;
  /** Those of which nothing was done, and why. */
  readonly failed: readonly BulkProblem[];
  /** Why it went no further. */
  readonly problem: string | undefined;
}

export type BulkStarted =
  | { readonly kind: "started"; readonly run: BulkRun }
  /** Another one is under way. */
  | { readonly kind: "busy" }
  | { readonly kind: "too_many" }
  | { readonly kind: "nothing_to_do"; readonly problems: readonly BulkProblem[] };

export interface BulkPorts extends Pick<Ports, "store" | "clock" | "random"> {
  /** Resolves early where the signal says so. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly log: (level: "info" | "warn", fields: object, message: string) => void;
}

/** Lets work go on beside requests; the signal says when the process ends. */
export type RunInBackground = (work: (ending: AbortSignal) => Promise<void>) => void;

const ID_BYTES = 9;
/** Those that are over can be asked for until so many others have begun. */
const RUNS_KEPT = 20;
/** Between portions, for the top-ups that waited. */
const PAUSE_MS = 20;

/**
 * Bulk corrections, one at a time, in the background. The audit trail names all connections before the first of them is
 * corrected. Progress lives in this process's memory: of a run that was cut off, the trail tells what was ordered, and the
 * ledgers what was done.
 */
export class BulkRuns {
  readonly #ports: BulkPorts;
  readonly #runInBackground: RunInBackground;
  readonly #runs = new Map<string, BulkRun>();
  #isBusy = false;

  constructor(ports: BulkPorts, runInBackground: RunInBackground) {
    this.#ports = ports;
    this.#runInBackground = runInBackground;
  }

  find(id: string): BulkRun | undefined {
    return this.#runs.get(id);
  }

  /** Resolves once the audit trail has it. */
  async start(actor: Actor, request: BulkRequest): Promise<BulkStarted> {
    if (this.#isBusy) return { kind: "busy" };
    this.#isBusy = true;
    let started: BulkStarted | undefined;
    try {
      started = await this.#begin(actor, request);
      return started;
    } finally {
      if (started?.kind !== "started") this.#isBusy = false;
    }
  }

  async #begin(actor: Actor, request: BulkRequest): Promise<BulkStarted> {
    const { order, reason } = request;
    const plan = await planBulk(this.#ports, actor, request);
    if (plan === "too_many") return { kind: "too_many" };
    const { effects, problems } = plan;
    if (effects.length === 0) return { kind: "nothing_to_do", problems };
    const connections = effects.map(({ connection }) => connection);
    const { corrections } = this.#ports.store;
    await corrections.bulk.announce(order, connections, correctingOf(this.#ports, actor, reason));
    const run: BulkRun = {
      ...{ id: Buffer.from(this.#ports.random(ID_BYTES)).toString("hex"), action: order.action, author: actor.name },
      ...{ state: "running", done: 0, count: connections.length, failed: problems, problem: undefined },
    };
    this.#put(run);
    this.#runInBackground(async (ending) => {
      await this.#work(run, beyondSession(actor), request, connections, ending);
      this.#isBusy = false;
    });
    return { kind: "started", run };
  }

  async #work(
    { id, ...begun }: BulkRun,
    actor: Actor,
    { order, reason }: BulkRequest,
    connections: readonly ConnectionKey[],
    ending: AbortSignal,
  ): Promise<void> {
    const { store, sleep, log } = this.#ports;
    let run: BulkRun = { id, ...begun };
    try {
      for (const portion of portionsOf(connections, BULK_PORTION)) {
        if (ending.aborted) throw new Error("the service was stopped");
        const by = correctingOf(this.#ports, actor, reason);
        const effects = await store.corrections.bulk.apply(order, portion, by);
        const failed = effects.flatMap(({ connection, outcome }) => {
          const problem = bulkProblem(order, outcome);
          return problem === undefined ? [] : [{ line: lineOf(connection), problem }];
        });
        run = { ...run, done: run.done + portion.length, failed: [...run.failed, ...failed] };
        this.#put(run);
        await sleep(PAUSE_MS, ending);
      }
      this.#put({ ...run, state: "done" });
    } catch (error) {
      const cause = error instanceof Error ? error.message : String(error);
      this.#put({ ...run, state: "failed", problem: cause });
      log("warn", { cause }, "a bulk correction was cut off");
    }
  }

  #put(run: BulkRun): void {
    this.#runs.set(run.id, run);
    const [oldest] = this.#runs.keys();
    if (this.#runs.size > RUNS_KEPT && oldest !== undefined) this.#runs.delete(oldest);
  }
}
