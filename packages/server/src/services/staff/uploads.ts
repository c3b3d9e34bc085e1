import type { Environment } from "../../domain/customer.ts";
import type { Instant } from "../../domain/wall-time.ts";
import type { LargeChange, RejectedLine } from "../../office/imports/file.ts";
import { failureWords } from "../../office/imports/runs.ts";
import { type Actor, beyondSession, type Ports } from "../ports.ts";
import {
  type ChangedCustomer,
  type CustomersHooks,
  type CustomersImport,
  type CustomersImported,
  type CustomersReport,
  type HeldBackSubscription,
  type ImportWarning,
  importCustomers,
} from "./import-customers.ts";
import { refusalWords } from "./import-runs.ts";

const KEPT_MS = 60 * 60_000;
const MOST_UPLOADS = 10;
/** Of changes, bad lines and whatever else is told of a file: of the others, there is the number. */
const MOST_TOLD = 1_000;

export interface UploadRequest
  extends Pick<
    CustomersImport,
    "asOf" | "goodwill" | "oldRecords" | "skipInvalid" | "toleranceDays" | "readRows" | "open"
  > {
  readonly environment: Environment;
  /** Its name. */
  readonly file: string;
  /** Lets go of the file. */
  readonly letGo: () => Promise<void>;
  /** Writes it at once where the check finds nothing against it. */
  readonly run: boolean;
}

export type RunRequest = Pick<CustomersImport, "allowLargeChange" | "goodwill">;

export type UploadState = "checking" | "checked" | "writing" | "done" | "refused" | "failed";

/** A customers file that was sent: it is checked, and written once it is told to. */
export interface Upload {
  readonly id: string;
  readonly environment: Environment;
  readonly file: string;
  readonly asOf: string | undefined;
  /** Of the step under way, or the last one. */
  readonly author: string;
  readonly state: UploadState;
  /** Of the step under way. */
  readonly lines: number;
  /** Of what would be done, and then of what was. */
  readonly report: CustomersReport | undefined;
  /** Of these, the first thousand. */
  readonly changes: readonly ChangedCustomer[];
  readonly problems: readonly RejectedLine[];
  readonly heldBack: readonly HeldBackSubscription[];
  readonly warnings: readonly ImportWarning[];
  readonly largeChanges: readonly LargeChange[];
  /** Why it was refused or failed, in words. */
  readonly problem: string | undefined;
}

type Job = { -readonly [Name in keyof Upload]: Upload[Name] } & {
  readonly request: UploadRequest;
  /** Who has sent it. */
  readonly sender: string;
  /** Of the last step that ended, or the first that began. */
  at: Instant;
  wasChecked: boolean;
};

/** Begins work that goes on in the background, until its signal says that the process is to end. */
type Begin = (work: (ending: AbortSignal) => Promise<void>) => void;

/** The process is to end. */
class Stopped extends Error {}

/** The customers files that were sent to this process. One step of one of them is done at a time. */
export class Uploads {
  readonly #ports: Ports;
  readonly #begin: Begin;
  readonly #onError: (error: unknown) => void;
  readonly #jobs = new Map<string, Job>();
  #last: Promise<void> = Promise.resolve();

  /** @param onError hears of what nobody expects to fail. */
  constructor(ports: Ports, begin: Begin, onError: (error: unknown) => void) {
    this.#ports = ports;
    this.#begin = begin;
    this.#onError = onError;
  }

  /** Begins to check a file. @returns undefined where so many are under way that there is no room. */
  async start(actor: Actor, request: UploadRequest): Promise<Upload | undefined> {
    await this.#makeRoom();
    if (this.#jobs.size >= MOST_UPLOADS) {
      await request.letGo();
      return undefined;
    }
    const { environment, file, asOf } = request;
    const job: Job = {
      ...{ id: Buffer.from(this.#ports.random(9)).toString("base64url"), environment, file, asOf, request },
      sender: actor.name,
      ...{ author: actor.name, state: "checking", lines: 0, report: undefined, largeChanges: [], problem: undefined },
      ...{ changes: [], problems: [], heldBack: [], warnings: [], at: this.#ports.clock(), wasChecked: false },
    };
    this.#jobs.set(job.id, job);
    const author = beyondSession(actor);
    this.#queue(job, async (ending) => {
      await this.#step(job, author, "checking", {}, ending);
      const isGood = job.state === "checked" && job.largeChanges.length === 0;
      if (request.run && isGood) await this.#step(job, author, "writing", {}, ending);
    });
    return job;
  }

  find(id: string): Upload | undefined {
    return this.#jobs.get(id);
  }

  /**
   * Begins to write a file that was checked; one of which the writing failed can be written again.
   * @returns undefined if there is none; `not_now` where it is not checked, or was written.
   */
  run(id: string, actor: Actor, request: RunRequest): Upload | "not_now" | undefined {
    const job = this.#jobs.get(id);
    if (job === undefined) return undefined;
    if (job.state !== "checked" && !(job.state === "failed" && job.wasChecked)) return "not_now";
    job.state = "writing";
    job.author = actor.name;
    const author = beyondSession(actor);
    this.#queue(job, (ending) => this.#step(job, author, "writing", request, ending));
    return job;
  }

  #queue(job: Job, work: (ending: AbortSignal) => Promise<void>): void {
    const before = this.#last;
    this.#begin((ending) => {
      this.#last = before
        .then(async () => {
          await work(ending);
          job.at = this.#ports.clock();
          if (!holdsFile(job.state)) await job.request.letGo();
        })
        .catch(this.#onError);
      return this.#last;
    });
  }

  async #step(
    job: Job,
    actor: Actor,
    step: "checking" | "writing",
    request: RunRequest,
    ending: AbortSignal,
  ): Promise<void> {
    const told = { changes: [], problems: [], heldBack: [], warnings: [] } as Told;
    Object.assign(job, told, { state: step, lines: 0, problem: undefined, largeChanges: [] });
    const {
      environment,
      asOf,
      goodwill,
      oldRecords,
      skipInvalid,
      toleranceDays,
      readRows,
      file: name,
      open,
    } = job.request;
    const said = { asOf, goodwill, oldRecords, skipInvalid, toleranceDays, readRows, ...request };
    const given = Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined));
    const asked = { environment, open, name, dryRun: step === "checking", ...given };
    try {
      conclude(job, await importCustomers(this.#ports, actor, asked, hooksOf(job, told, ending)), step);
    } catch (error) {
      job.state = "failed";
      job.problem = this.#wordsOf(error) + (step === "writing" ? PARTLY_WRITTEN : "");
    }
  }

  #wordsOf(error: unknown): string {
    const words = error instanceof Stopped ? "topupd was stopped" : failureWords(error);
    if (words !== undefined) return words;
    this.#onError(error);
    return "topupd failed: its log says more";
  }

  /** Deletes the oldest file of a person that nothing is done with at the moment. @returns whether there was one. */
  async makeRoomFor(person: string): Promise<boolean> {
    const oldest = this.#idle().find(({ sender, state }) => sender === person && holdsFile(state));
    if (oldest !== undefined) await this.#delete(oldest);
    return oldest !== undefined;
  }

  /** Deletes those of an hour ago, and the oldest if there are too many. */
  async #makeRoom(): Promise<void> {
    for (const job of this.#idle()) {
      if (job.at >= this.#ports.clock() - KEPT_MS && this.#jobs.size < MOST_UPLOADS) break;
      await this.#delete(job);
    }
  }

  /** Oldest first. */
  #idle(): Job[] {
    const idle = [...this.#jobs.values()].filter(({ state }) => state !== "checking" && state !== "writing");
    return idle.toSorted((a, b) => a.at - b.at);
  }

  async #delete(job: Job): Promise<void> {
    this.#jobs.delete(job.id);
    await job.request.letGo();
  }
}

/** Whether a file can still be written, now or later. */
function holdsFile(state: UploadState): boolean {
  return state !== "done" && state !== "refused";
}

const PARTLY_WRITTEN = ". A part of the file may be written; writing it again mends it";

interface Told {
  readonly changes: ChangedCustomer[];
  readonly problems: RejectedLine[];
  readonly heldBack: HeldBackSubscription[];
  readonly warnings: ImportWarning[];
}

function hooksOf(job: Job, { changes, problems, heldBack, warnings }: Told, ending: AbortSignal): CustomersHooks {
  const tell = <Item>(list: Item[], item: Item) => {
    if (list.length < MOST_TOLD) list.push(item);
  };
  return {
    onChange: (change) => tell(changes, change),
    onRejected: (line) => tell(problems, line),
    onHeldBack: (held) => tell(heldBack, held),
    onWarning: (warning) => tell(warnings, warning),
    onProgress: ({ lines }) => {
      if (ending.aborted) throw new Stopped();
      job.lines = lines;
    },
  };
}

function conclude(job: Job, imported: CustomersImported, step: "checking" | "writing"): void {
  const refuse = (problem: string) => Object.assign(job, { state: "refused", problem });
  if (imported.kind === "bad_lines" && imported.hasGood) {
    refuse(`${refusalWords(imported)}: correct them, or have bad lines left out`);
  } else if (imported.kind === "bad_lines" || imported.kind === "as_of_refused") {
    refuse(refusalWords(imported));
  } else {
    job.report = imported.report;
    job.largeChanges = imported.kind === "large_change" ? imported.changes : [];
    job.state = imported.kind === "done" && step === "writing" ? "done" : "checked";
    job.wasChecked = true;
  }
}
