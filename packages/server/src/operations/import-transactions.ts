import type { Environment } from "../domain/customer.ts";
import type { Reading } from "../domain/fields.ts";
import type { HistoryEffect } from "../domain/history.ts";
import { type HistoricTopUp, type HistoryContext, readHistoryRow } from "../domain/history-row.ts";
import { FileChanged, type ImportOptions, type ImportProgress, type ImportReport, refusal } from "./import-report.ts";
import { attributionOf, reasoned, type StaffPorts } from "./ports.ts";
import { type ReadRows, readNdjson, readRow, rejectedLines, type SourceRow } from "./source-rows.ts";

/** Few enough that top-ups of a running service are hardly held up, and that an entry of the audit trail can be read. */
const TOP_UPS_PER_TRANSACTION = 500;

const CHANGED = "the file was changed while it was being imported: import it again";
const MADE_HERE =
  "must be success, since it was made here: topupd transaction reverse takes it back today, and --own-reversals, after a restore, as of reversedAt";
const CONTRADICTED =
  "this line was good when the file was checked: another line contradicts it, or its top-up was recorded meanwhile";

/**
 * Puts the top-ups of an export on record, as they were where it comes from. They move no subscription: their time is
 * in the dates that customers are imported with. The file is read twice, first to hold all of it against what is on
 * record; with `skipInvalid`, where nothing depends on that, once. Imported again after an interruption, it comes to
 * the same. What was made here is taken back only where that is asked for: it counts on a day that may be settled.
 * @param open opens the file from its beginning.
 */
export async function importTransactions(
  ports: StaffPorts,
  environment: Environment,
  open: () => AsyncIterable<Uint8Array>,
  options: ImportOptions,
): Promise<ImportReport> {
  const { store } = ports;
  const { skipInvalid, dryRun = false, readRows = readNdjson, ownReversals = false } = options;
  const partners = await store.listPartners();
  const context: HistoryContext = {
    ...{ calendar: store.provider.calendar, currencyExponent: store.provider.currencyExponent, environment },
    ...{ partnerIds: new Map(partners.map(({ name, id }) => [name, id])), now: ports.clock() },
  };
  const go = (pass: Pass) => runPass(readChunks(readRows(open()), context), pass, options);
  const preview = async (topUps: readonly HistoricTopUp[]) =>
    (await store.history.preview(topUps)).map((effect) => withoutOwn(effect, ownReversals));
  const compare = (tells: boolean) => go({ step: "comparing", settle: preview, tells });
  let good: number | undefined;
  if (!skipInvalid) {
    // Nothing is told before it is known whether any of it would be written.
    const found = await compare(false);
    if (found.rejected > 0) return refusal(found.rejected);
    good = found.accepted;
  }
  if (dryRun) return await compare(true);
  const settle = async (topUps: readonly HistoricTopUp[]) => {
    const effects = await store.history.import(environment, topUps, attributionOf(ports));
    if (ownReversals) return reverseOwn(ports, topUps, effects);
    return effects.map((effect) => withoutOwn(effect, false));
  };
  const done = await go({ step: "writing", settle, tells: true, mustBeGood: !skipInvalid });
  if (good !== undefined && done.accepted !== good) throw new FileChanged(CHANGED);
  return done;
}

type Effect = Exclude<HistoryEffect, { kind: "own_reversal" }>;

function withoutOwn(effect: HistoryEffect, isTaken: boolean): Effect {
  if (effect.kind !== "own_reversal") return effect;
  return isTaken ? { kind: "changed" } : refuseOwn(MADE_HERE);
}

function refuseOwn(problem: string): Effect {
  return { kind: "refused", problems: [{ field: "status", problem }] };
}

/** Takes back what was made here, in order with all else that bears on its subscription; each by itself. */
async function reverseOwn(
  ports: StaffPorts,
  topUps: readonly HistoricTopUp[],
  effects: readonly HistoryEffect[],
): Promise<Effect[]> {
  const done: Effect[] = [];
  for (const [index, effect] of effects.entries()) {
    if (effect.kind !== "own_reversal") {
      done.push(effect);
      continue;
    }
    const { checkoutId } = (topUps[index] as HistoricTopUp).transaction;
    const { reversal } = effect;
    const by = reasoned(ports, reversal.reason);
    const { kind } = await ports.store.corrections.reverse(checkoutId, by, reversal);
    if (kind === "history_gone") done.push(refuseOwn("cannot be reversed: what there was before it was let go"));
    else done.push({ kind: kind === "already_reversed" ? "unchanged" : "changed" });
  }
  return done;
}

/** What is done with each portion of the file. */
interface Pass {
  readonly step: ImportProgress["step"];
  readonly settle: (topUps: readonly HistoricTopUp[]) => Promise<readonly Effect[]>;
  /** Whether what was done is told of. */
  readonly tells: boolean;
  /** Whether a line that is refused ends it. */
  readonly mustBeGood?: boolean;
}

interface Read {
  readonly row: SourceRow;
  readonly reading: Reading<HistoricTopUp>;
}

async function runPass(
  chunks: AsyncIterable<readonly Read[]>,
  { step, settle, tells, mustBeGood = false }: Pass,
  { onRejected, onProgress, onChange }: ImportOptions,
): Promise<ImportReport> {
  const counts = { added: 0, changed: 0, unchanged: 0 };
  let rejected = 0;
  for await (const chunk of chunks) {
    const topUps = chunk.flatMap(({ reading }) => (reading.ok ? [reading.value] : []));
    const effects = topUps.length > 0 ? [...(await settle(topUps))] : [];
    for (const { row, reading } of chunk) {
      const effect = reading.ok ? (effects.shift() as Effect) : ({ kind: "refused", ...reading } as const);
      if (effect.kind === "refused") {
        rejected += 1;
        for (const line of rejectedLines(row, effect.problems)) onRejected(line);
        continue;
      }
      counts[effect.kind] += 1;
      const { txnId } = (reading as Extract<typeof reading, { ok: true }>).value.transaction;
      if (tells && effect.kind !== "unchanged")
        onChange?.({ what: "transaction", line: row.line, txnId, kind: effect.kind });
    }
    onProgress({ step, lines: chunk.at(-1)?.row.line ?? 0 });
    if (mustBeGood && rejected > 0) throw new FileChanged(CONTRADICTED);
  }
  return { accepted: counts.added + counts.changed + counts.unchanged, rejected, ...counts };
}

async function* readChunks(source: ReturnType<ReadRows>, context: HistoryContext): AsyncGenerator<readonly Read[]> {
  let chunk: Read[] = [];
  for await (const rows of source) {
    for (const row of rows) {
      chunk.push({ row, reading: readRow(row, (object) => readHistoryRow(object, context)) });
      if (chunk.length < TOP_UPS_PER_TRANSACTION) continue;
      yield chunk;
      chunk = [];
    }
  }
  if (chunk.length > 0) yield chunk;
}
