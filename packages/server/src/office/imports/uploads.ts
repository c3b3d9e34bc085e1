import type { Static } from "typebox";
import type { FieldChange } from "../../domain/customer-audit.ts";
import { plainWords, Refused } from "../../domain/refused.ts";
import type { Instant } from "../../domain/wall-time.ts";
import { heldBackFields } from "../customers/schemas.ts";
import { beyondSession } from "../decide.ts";
import type { Office } from "../office.ts";
import { endFailed, KEPT_MS } from "../work.ts";
import { type CustomersImport, importCustomers } from "./customers.ts";
import { MOST_SAID } from "./file.ts";
import type { CustomersHooks } from "./findings.ts";
import type { UploadSchema } from "./schemas.ts";
import { heldBackAdvice } from "./tally.ts";

const MOST_UPLOADS = 10;
const ID_BYTES = 9;

export interface UploadRequest extends Omit<CustomersImport, "allowLargeChange" | "allowShorter"> {
  readonly file: Required<Pick<CustomersImport["file"], "name">> & CustomersImport["file"];
  readonly deleteFile: () => Promise<void>;
  /** Whether to write the file at once if the check finds no problem. */
  readonly run: boolean;
}

export type RunRequest = Pick<CustomersImport, "allowLargeChange" | "goodwill">;

/** An uploaded customers file. It is checked at once, and written on request. */
export type Upload = Static<typeof UploadSchema>;

interface Kept {
  shown: Upload;
  readonly request: UploadRequest;
  /** The account that uploaded the file. */
  readonly sender: string;
  /** End of the last step, or start of the first. */
  at: Instant;
}

/** The customers files that were uploaded to this process. It checks or writes one file at a time. */
export class Uploads {
  readonly #kept = new Map<string, Kept>();
  #last: Promise<void> = Promise.resolve();

  /** Begins to check a file. @throws Refused if too many are under way. */
  async start(office: Office, request: UploadRequest): Promise<Upload> {
    await this.#makeRoom(office.clock());
    if (this.#kept.size >= MOST_UPLOADS) {
      await request.deleteFile();
      throw new Refused("conflict", "so many files are under way that there is no room: send this one later");
    }
    const { environment, file, asOf = null } = request;
    const id = Buffer.from(office.random(ID_BYTES)).toString("base64url");
    const { author } = office.by;
    const shown: Upload = {
      id,
      environment,
      file: file.name,
      asOf,
      author,
      state: "checking",
      ...{ lines: 0, allLines: 0, allChanges: 0 },
      report: null,
      problem: null,
      largeChanges: [],
      advice: null,
      ...NOTHING_FOUND,
    };
    const kept: Kept = { shown, request, sender: author, at: office.clock() };
    this.#kept.set(id, kept);
    await this.#queue(office, kept, async (ending) => {
      await step(office, kept, "checking", { allowLargeChange: true }, ending);
      const isGood = kept.shown.state === "checked" && kept.shown.largeChanges.length === 0;
      if (request.run && isGood) await step(office, kept, "running", {}, ending);
    });
    return kept.shown;
  }

  /** @throws Refused */
  find(id: string): Upload {
    return this.#find(id).shown;
  }

  #find(id: string): Kept {
    const kept = this.#kept.get(id);
    if (kept === undefined)
      throw new Refused("not_found", "there is no such file any more: it is kept for an hour, and until a restart");
    return kept;
  }

  /** Begins to write a checked file; again if the writing failed. @throws Refused */
  async run(office: Office, id: string, request: RunRequest): Promise<Upload> {
    const kept = this.#find(id);
    const { state } = kept.shown;
    if (state !== "checked" && state !== "failed")
      throw new Refused("conflict", "only a file that was checked, and is not written, can be");
    kept.shown = { ...kept.shown, state: "running", author: office.by.author };
    await this.#queue(office, kept, (ending) => step(office, kept, "running", request, ending));
    return kept.shown;
  }

  #queue(office: Office, kept: Kept, work: (ending: AbortSignal) => Promise<void>): Promise<void> {
    const before = this.#last;
    return office.goOn((ending) => {
      const done = before.then(async () => {
        try {
          await work(ending);
        } finally {
          kept.at = office.clock();
          if (!holdsFile(kept)) await kept.request.deleteFile();
        }
      });
      this.#last = done.catch(() => {});
      return done;
    });
  }

  /** Deletes the oldest idle file of a person. @returns whether there was one. */
  async makeRoomFor(person: string): Promise<boolean> {
    const oldest = this.#idle().find((kept) => kept.sender === person && holdsFile(kept));
    if (oldest !== undefined) await this.#delete(oldest);
    return oldest !== undefined;
  }

  /** Deletes files that are an hour old, and the oldest if there are too many. */
  async #makeRoom(now: Instant): Promise<void> {
    for (const kept of this.#idle()) {
      if (kept.at >= now - KEPT_MS && this.#kept.size < MOST_UPLOADS) break;
      await this.#delete(kept);
    }
  }

  /** Idle files, oldest first. */
  #idle(): Kept[] {
    const idle = [...this.#kept.values()].filter(({ shown: { state } }) => state !== "checking" && state !== "running");
    return idle.toSorted((a, b) => a.at - b.at);
  }

  async #delete({ shown: { id }, request }: Kept): Promise<void> {
    this.#kept.delete(id);
    await request.deleteFile();
  }
}

/** Whether a file can still be written, now or later. */
function holdsFile({ shown: { state } }: Kept): boolean {
  return state !== "done" && state !== "refused";
}

const NOTHING_FOUND = { changes: [], problems: [], heldBack: [], warnings: [] };
const PARTLY_WRITTEN = ". A part of the file may be written; writing it again completes it";

/** Checks or writes a file, with the rights of the account, also after the session has ended. */
async function step(
  office: Office,
  kept: Kept,
  state: "checking" | "running",
  more: RunRequest,
  ending: AbortSignal,
): Promise<void> {
  const put = (changed: Partial<Upload>) => {
    kept.shown = { ...kept.shown, ...changed };
  };
  const found: Found = { changes: [], problems: [], heldBack: [], warnings: [] };
  put({ ...found, state, lines: 0, problem: null });
  const hooks = {
    ...hooksOf(found),
    onProgress({ lines }: { readonly lines: number }) {
      if (ending.aborted) throw new Refused("conflict", "topupd was stopped");
      put({ lines });
    },
  };
  const isPreview = state === "checking";
  const said = Object.fromEntries(Object.entries(more).filter(([, value]) => value !== undefined));
  try {
    const done = await importCustomers({ ...beyondSession(office), isPreview }, { ...kept.request, ...said }, hooks);
    const largeChanges = [...done.largeChanges];
    const { accepted, rejected, added, changed } = done.report;
    put({
      state: isPreview ? "checked" : "done",
      report: { ...done.report },
      allLines: accepted + rejected,
      allChanges: added + changed,
      largeChanges,
      advice: heldBackAdvice(done.report),
    });
  } catch (error) {
    if (!isPreview && error instanceof Refused && error.code === "invalid")
      return put({ state: "checked", problem: plainWords(error) });
    await endFailed(state, error, ({ problem, ...end }) => {
      put({ ...end, problem: isPreview ? problem : problem + PARTLY_WRITTEN });
    });
  }
}

type Found = Pick<Upload, "changes" | "problems" | "heldBack" | "warnings">;

/** Keeps the first findings of each kind. */
function hooksOf({ changes, problems, heldBack, warnings }: Found): Omit<CustomersHooks, "onProgress"> {
  const keep = <Item>(list: Item[], item: () => Item) => {
    if (list.length < MOST_SAID) list.push(item());
  };
  return {
    onChange: (change) => keep(changes, () => ({ ...change, changes: change.changes.map(changeData) })),
    onRejected: ({ line, problems: all }) => keep(problems, () => ({ line, problems: [...all] })),
    onHeldBack: (held) => keep(heldBack, () => ({ line: held.line, cuid: held.cuid, ...heldBackFields(held) })),
    onWarning: (warning) => keep(warnings, () => warning),
  };
}

const changeData = ({ field, from, to }: FieldChange) => ({ field, from: from ?? null, to: to ?? null });
