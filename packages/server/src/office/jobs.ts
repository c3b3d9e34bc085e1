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
  /** Reason for an early stop. */
  readonly problem: string | null;
}

/** Long work that is ready to start. */
export interface Prepared<Result> extends Pick<Job<Result>, "count" | "result"> {
  /** Yields the progress after each step. @param office with the rights of the account, also after its session ended. */
  readonly steps: (office: Office) => AsyncIterable<Pick<Job<Result>, "done" | "result">>;
}

/** Ended jobs are kept until this many others have started. */
const KEPT = 20;
/** Pause between steps, for top-ups that wait. */
const PAUSE_MS = 20;
const ID_BYTES = 9;

/** Long work of this process, one of a kind at a time. A restart deletes the state of a job, not its work. */
export class Jobs {
  readonly #jobs = new Map<string, Job<unknown>>();
  /** Cancels the running job, by kind. */
  readonly #running = new Map<string, AbortController>();

  /**
   * Prepares a job, and starts it.
   * @throws Refused if another of its kind is running; and what `prepare` throws.
   */
  async start<Result>(office: Office, kind: string, prepare: () => Promise<Prepared<Result>>): Promise<Job<Result>> {
    if (this.#running.has(kind)) throw new Refused("conflict", `another ${kind} is running: wait until it is done`);
    const cancelling = new AbortController();
    this.#running.set(kind, cancelling);
    const { count, result, steps } = await prepare().catch((error: unknown) => {
      this.#running.delete(kind);
      throw error;
    });
    const id = Buffer.from(office.random(ID_BYTES)).toString("hex");
    const { author } = office.by;
    let job: Job<Result> = { id, kind, author, state: "running", done: 0, count, result, problem: null };
    const put = (more: Partial<Job<Result>>) => {
      job = { ...job, ...more };
      this.#jobs.set(id, job);
    };
    put({});
    await office.goOn(async (ending) => {
      try {
        for await (const step of steps(beyondSession(office))) {
          put(step);
          office.progress(`${job.done} of ${count}`);
          await office.sleep(PAUSE_MS, ending);
          if (job.done >= count) continue;
          if (cancelling.signal.aborted) return put({ state: "cancelled", problem: "it was cancelled" });
          if (ending.aborted) return put({ state: "failed", problem: "the service was stopped" });
        }
        put({ state: "done" });
      } catch (error) {
        put({ state: "failed", problem: error instanceof Error ? error.message : String(error) });
        throw error;
      } finally {
        this.#running.delete(kind);
        const [oldest = ""] = this.#jobs.keys();
        if (this.#jobs.size > KEPT) this.#jobs.delete(oldest);
      }
    });
    return job;
  }

  /** @throws Refused */
  find<Result>(kind: string, id: string): Job<Result> {
    const job = this.#jobs.get(id);
    if (job?.kind !== kind) throw new Refused("not_found", `there is no ${kind} with this id`);
    return job as Job<Result>;
  }

  /** Ends a job after the step under way. Finished steps stay. */
  cancel<Result>(kind: string, id: string): Job<Result> {
    const job = this.find<Result>(kind, id);
    if (job.state !== "running") throw new Refused("conflict", `this ${kind} has ended`);
    this.#running.get(kind)?.abort();
    return job;
  }
}

/** The rights of a session end with it; those of its account last while it has its role. */
export function beyondSession(office: Office): Office {
  const { authority } = office.by;
  if (authority === undefined || !("staffId" in authority)) return office;
  return { ...office, by: { ...office.by, authority: { ...authority, sessionId: undefined } } };
}
