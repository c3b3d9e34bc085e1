import { type CustomerEffect, losesValue, type SharedName, sharedWords } from "../../domain/customer-audit.ts";
import { Refused } from "../../domain/refused.ts";
import type { ConfirmedCustomer, CustomerRowOfFile } from "../../store/store.ts";
import { count, printable } from "../text.ts";
import { LARGE_FROM, type LargeChange, type RejectedLine } from "./file.ts";
import type { CustomersHooks, CustomersReport, NumberedRow } from "./findings.ts";

/** A row that names a connection of another customer. */
interface SharedRow extends NumberedRow {
  readonly shared: SharedName;
  readonly endsRunning: number;
}

const RUNS_ON =
  'is inactive in the file, but has a running subscription, so it stays active: to stop it, use the status "blocked"';

type Confirm = (customers: readonly ConfirmedCustomer[]) => Promise<void>;
type Settle = (rows: readonly CustomerRowOfFile[]) => Promise<readonly CustomerEffect[]>;

/** Counts what an import does, or would do. */
export class CustomersTally {
  endsRunning = 0;
  deactivates = 0;
  losesMobile = 0;
  losesName = 0;
  readonly #hooks: Pick<CustomersHooks, "onChange" | "onHeldBack" | "onWarning"> | undefined;
  readonly #counts = { added: 0, changed: 0, unchanged: 0 };
  #heldBack = 0;
  #goodwillUnclear = 0;
  #stale = 0;
  #shared: SharedRow[] = [];
  #rejected = 0;
  /** Connections that customers no longer have: `cuid reqId`. */
  readonly #freed = new Set<string>();
  /** Customers with something to write or to show. */
  readonly #touched = new Set<string>();

  /** @param hooks undefined if nothing is shown. */
  constructor(hooks: Pick<CustomersHooks, "onChange" | "onHeldBack" | "onWarning"> | undefined) {
    this.#hooks = hooks;
  }

  /** Settles rows, and keeps those that name another customer's connection. */
  async take(rows: readonly NumberedRow[], settle: Settle): Promise<void> {
    if (rows.length === 0) return;
    const effects = await settle(rows.map(({ row }) => row));
    for (const [index, effect] of effects.entries()) this.#add(rows[index] as NumberedRow, effect);
  }

  /** Whether all settled rows of a customer equal the stored data. */
  isUnchanged(cuid: string): boolean {
    return !this.#touched.has(cuid);
  }

  /** Counts customers whose rows equal the stored data. */
  async confirm(customers: readonly ConfirmedCustomer[], confirm: Confirm): Promise<void> {
    if (customers.length === 0) return;
    await confirm(customers);
    this.#counts.unchanged += customers.length;
  }

  /** Settles rows whose connection was freed by another customer, until no more is freed. The order of rows does not matter. */
  async retryShared(settle: Settle, atOnce: number): Promise<void> {
    for (let before = Number.POSITIVE_INFINITY; this.#shared.length < before; ) {
      const rows = this.#shared;
      before = rows.length;
      this.#shared = [];
      for (let first = 0; first < rows.length; first += atOnce)
        await this.take(rows.slice(first, first + atOnce), settle);
    }
  }

  /** Rejects the rows that remain; in a preview, except those whose connection another customer gives up. */
  rejectShared(onRejected: (line: RejectedLine) => void): void {
    for (const { line, row, shared, endsRunning } of this.#shared) {
      const { cuid } = row.stated;
      if (this.#freed.has(`${shared.cuid} ${shared.otherReqId}`)) {
        const change = { field: shared.reqId, from: `customer ${shared.cuid}`, to: `customer ${cuid}` };
        this.#counts.changed += 1;
        this.endsRunning += endsRunning;
        this.#hooks?.onChange?.({ line, cuid, kind: "changed", changes: [change] });
        continue;
      }
      this.#rejected += 1;
      const problem = `of customer ${cuid} hold ${shared.reqId}, which ${sharedWords(shared)}`;
      onRejected({ line, problems: [{ field: "connections", problem }] });
    }
    this.#shared = [];
  }

  /** @param bad lines that could not be read. */
  report(bad: number): Omit<CustomersReport, "mobilePlaceholders" | "running"> {
    const { added, changed, unchanged } = this.#counts;
    const accepted = added + changed + unchanged;
    return {
      accepted,
      rejected: bad + this.#rejected,
      added,
      changed,
      unchanged,
      heldBack: this.#heldBack,
      goodwillUnclear: this.#goodwillUnclear,
      stale: this.#stale,
      endsRunning: this.endsRunning,
    };
  }

  #add(numbered: NumberedRow, effect: CustomerEffect): void {
    const { cuid, kind, shared, endsRunning } = effect;
    if (!isPlain(effect)) this.#touched.add(cuid);
    if (kind !== "refused") {
      this.#counts[kind] += 1;
      this.#count(effect);
      this.#noteFreed(effect);
      this.#show(numbered, effect);
    } else if (shared !== undefined) this.#shared.push({ ...numbered, shared, endsRunning });
  }

  #count(effect: CustomerEffect): void {
    const { heldBack } = effect;
    this.#heldBack += heldBack.length;
    this.#goodwillUnclear += heldBack.filter(({ goodwill }) => goodwill !== undefined).length;
    if (effect.isStale) this.#stale += 1;
    this.endsRunning += effect.endsRunning;
    if (effect.deactivates) this.deactivates += 1;
    if (losesValue(effect, ["mobile"])) this.losesMobile += 1;
    if (losesValue(effect, ["first_name", "last_name"])) this.losesName += 1;
  }

  /** A field of a connection is named by service and reqId. */
  #noteFreed({ cuid, changes }: CustomerEffect): void {
    const removed = changes.filter(({ to }) => to === undefined);
    for (const { field } of removed) this.#freed.add(`${cuid} ${field.slice(field.indexOf(" ") + 1)}`);
  }

  #show(numbered: NumberedRow, { cuid, kind, changes, heldBack, runningThoughInactive }: CustomerEffect): void {
    if (this.#hooks === undefined) return;
    const { line } = numbered;
    if (kind === "added" || kind === "changed") this.#hooks.onChange?.({ line, cuid, kind, changes });
    for (const held of heldBack) this.#hooks.onHeldBack({ line, cuid, ...held }, numbered);
    for (const { service, reqId } of runningThoughInactive)
      this.#hooks.onWarning({ line, cuid, problem: `${service} ${reqId} ${RUNS_ON}` });
  }
}

/** Whether a row equals the stored data, and nothing is to be shown of it. */
function isPlain({ kind, isStale, heldBack, runningThoughInactive }: CustomerEffect): boolean {
  return kind === "unchanged" && !isStale && heldBack.length === 0 && runningThoughInactive.length === 0;
}

/** Largest part of the file's running subscriptions that is held back without doubt about the file's `asOf`. */
const MOST_HELD_BACK = 0.05;

/** Advice if a file holds back so much that its `asOf` is probably wrong. Unclear goodwill has another cause. */
export function heldBackAdvice({ heldBack = 0, goodwillUnclear = 0, running = 0 }: Partial<CustomersReport>) {
  const shorter = heldBack - goodwillUnclear;
  if (shorter < LARGE_FROM || shorter <= running * MOST_HELD_BACK) return null;
  const which = `${shorter} of the file's ${count(running, "running subscription")} are held back, over 5 %`;
  return `${which}: its as of (--as-of) is probably wrong. Check it, and import the file again.`;
}

/** Words the counts: `2 accepted, 1 rejected`. */
export function countsOf(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([what, number]) => `${number} ${what}`)
    .join(", ");
}

export function rejectedWords({ line, problems }: RejectedLine): string {
  return problems.map(({ field, problem }) => `line ${line}: ${printable(`${field} ${problem}`)}\n`).join("");
}

interface Change {
  readonly field: string;
  readonly from?: string | null | undefined;
  readonly to?: string | null | undefined;
}

/** Each changed value, before and after. */
export function changeWords(title: string, changes: readonly Change[]): string {
  const values = changes.map(({ field, from, to }) => `  ${field}: ${from ?? "nothing"} -> ${to ?? "nothing"}`);
  return [title, ...values].map((each) => `${printable(each)}\n`).join("");
}

/** @param lines the first bad lines. */
export function badLines(rejected: number, hasGood: boolean, lines: readonly RejectedLine[] = []): Refused {
  const problems = lines.flatMap(({ line, problems: all }) =>
    all.map(({ field, problem }) => ({ field: `line ${line}: ${field}`, problem })),
  );
  if (!hasGood) return new Refused("invalid", "nothing was written: the file holds no good line", problems);
  const bad = `nothing was written: ${count(rejected, "line")} cannot be read`;
  return new Refused("invalid", `${bad}. Correct the file, or skip bad lines`, problems);
}

export function tooLarge(changes: readonly LargeChange[]): Refused {
  const all = changes.map(({ what, count: number, of }) => `${number} of ${of} ${what.replaceAll("_", " ")}`);
  const would = `nothing was written: it would be ${all.join(" and ")}`;
  return new Refused("invalid", (name) => `${would}. If that is meant, give ${name("allowLargeChange")}`);
}
