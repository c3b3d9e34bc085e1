import type { Office } from "./office.ts";
import { Refused } from "./refused.ts";

/** The state of long work. */
export interface Job<Result> {
  readonly id: string;
  readonly kind: string;
  readonly author: string;
  readonly state: "running" | "done" | "failed" | "cancelled";
  readonly done: number;
  readonly count: number;
  readonly result: Result;
  /** Why it stopped early. */
  readonly problem: string | null;
}

/** Ended jobs are kept until this many others have started. */
const KEPT = 20;
/** Between steps, for top-ups that wait. */
const PAUSE_MS = 20;
const ID_BYTES = 9;

/** Long work of this process, one of a kind at a time. A restart deletes the state of a job, not its work. */
export class Jobs {
  readonly #jobs = new Map<string, Job<unknown>>();
  readonly #cancelling = new Map<string, AbortController>();

  /** @throws Refused if another of its kind is running. */
  refuseSecond(kind: string): void {
    for (const job of this.#jobs.values())
      if (job.kind === kind && job.state === "running")
        throw new Refused("conflict", `another ${kind} is running: wait until it is done`);
  }

  /** @param steps yields the progress after each step. */
  async start<Result>(
    office: Office,
    { kind, count, result }: Pick<Job<Result>, "kind" | "count" | "result">,
    steps: () => AsyncIterable<{ readonly done: number; readonly result: Result }>,
  ): Promise<Job<Result>> {
    this.refuseSecond(kind);
    const id = Buffer.from(office.random(ID_BYTES)).toString("hex");
    const cancelling = new AbortController();
    let job: Job<Result> = {
      ...{ id, kind, author: office.by.author, state: "running", done: 0, count, result, problem: null },
    };
    const put = (more: Partial<Job<Result>>) => {
      job = { ...job, ...more };
      this.#jobs.set(id, job);
    };
    put({});
    this.#cancelling.set(id, cancelling);
    await office.goOn(async (ending) => {
      try {
        for await (const step of steps()) {
          put(step);
          office.progress(`${job.done} of ${count}`);
          if (cancelling.signal.aborted) return put({ state: "cancelled", problem: "it was cancelled" });
          if (ending.aborted) return put({ state: "failed", problem: "the service was stopped" });
          await office.sleep(PAUSE_MS, ending);
        }
        put({ state: "done" });
      } catch (error) {
        put({ state: "failed", problem: error instanceof Error ? error.message : String(error) });
      } finally {
        this.#cancelling.delete(id);
        const [oldest = ""] = this.#jobs.keys();
        if (this.#jobs.size > KEPT) this.#jobs.delete(oldest);
      }
    });
    return job;
  }

  /** @throws Refused */
  find(kind: string, id: string): Job<unknown> {
    const job = this.#jobs.get(id);
    if (job?.kind !== kind) throw new Refused("not_found", `there is no ${kind} with this id`);
    return job;
  }

  /** Ends a job after the step under way. Finished steps stay. */
  cancel(kind: string, id: string): Job<unknown> {
    const job = this.find(kind, id);
    if (job.state !== "running") throw new Refused("conflict", `this ${kind} has ended`);
    this.#cancelling.get(id)?.abort();
    return job;
  }
}
