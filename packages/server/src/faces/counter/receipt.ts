import type { Static } from "typebox";
import type { LEGAL_LINES } from "../../domain/access-token.ts";
import { explainEntries } from "../../domain/ledger.ts";
import { isRunning } from "../../domain/subscription.ts";
import type { Transaction } from "../../domain/transaction.ts";
import { periodWords } from "../../office/customers/words.ts";
import { findPartner } from "../../office/partners/sql.ts";
import { chainsOf } from "../../office/steps/chains.ts";
import { saleOf, splitData, taxLines } from "../../office/taxes/lines.ts";
import { presenterOf } from "../../office/transactions/presenter.ts";
import { findSales } from "../../office/transactions/sql.ts";
import { ledgersOfConnection } from "../../store/customers.ts";
import type { AdminPorts } from "../staff-api/ports.ts";
import type { ReceiptSchema } from "./schemas.ts";

/** The receipt of a top-up of the seller's partner, with nothing that other partners sold. */
export async function receiptOf(ports: AdminPorts, transaction: Transaction): Promise<Static<typeof ReceiptSchema>> {
  const { store, letterhead, currency = null } = ports;
  const { engine } = store;
  const { environment, cuid, service, reqId, txnId, checkoutId, status, txnDate, amount, udf1, partnerId } =
    transaction;
  const sale = (await findSales(engine.db, [txnId])).get(txnId);
  const presenter = await presenterOf(ports, environment);
  const partnerName = presenter.partnerNames.get(partnerId) ?? "";
  const { legal = {} } = (await findPartner(engine.db, partnerName)) ?? {};
  const profile = (await store.findConnection(transaction))?.profile;
  const ledgers = ledgersOfConnection(await engine.readLedgers(engine.db, environment, [cuid]), transaction);
  const made = ledgers
    .flatMap((ledger) => explainEntries(ledger))
    .find(({ entry }) => entry.kind === "top_up" && entry.txnId === txnId);
  const newest = Math.max(...ledgers.map(({ entries }) => entries.at(-1)?.at.instant ?? 0));
  // Later changes may be sales of other partners.
  const isNewest = made !== undefined && made.entry.at.instant === newest && made.reversedBy === undefined;
  const changed = { service, reqId, ledgers, blockedAt: undefined };
  const [chain = null] = isNewest ? await chainsOf(ports, environment, [changed]) : [];
  return {
    txnId,
    checkoutId,
    environment,
    status,
    time: txnDate,
    number: udf1 ?? txnId,
    seller: sale?.seller ?? null,
    method: sale?.method ?? null,
    provider: letterhead,
    partner: { name: partnerName, ...linesOf(legal) },
    customer: { cuid, name: profile === undefined ? "" : `${profile.firstName} ${profile.lastName}`.trim() },
    service,
    reqId,
    bouquet: presenter.findBouquet(service, transaction.bouquetCode)?.name ?? transaction.bouquetCode,
    currency,
    price: presenter.formatAmount(amount),
    ...splitData(await taxLines(engine.db, saleOf(transaction)), store.provider.currencyExponent),
    why: made === undefined ? null : whyOf(made),
    chain,
  };
}

function linesOf(legal: Readonly<Partial<Record<(typeof LEGAL_LINES)[number], string>>>) {
  const { legalName = null, address = null, taxNumber = null, contact = null } = legal;
  return { legalName, address, taxNumber, contact };
}

/** Why the subscription ends when it does: `End before 2026-12-12 10:00:00, 1 month added, end now 2027-01-12 10:00:00.` */
function whyOf({ entry, before }: ReturnType<typeof explainEntries>[number]): string | null {
  if (entry.kind !== "top_up" || entry.after === undefined) return null;
  const added = periodWords(entry.period);
  const now = `end now ${entry.after.end}.`;
  if (!isRunning(before, entry.at.wall)) return `Nothing was running, ${added} from ${entry.at.wall}, ${now}`;
  return `End before ${before.end}, ${added} added, ${now}`;
}
