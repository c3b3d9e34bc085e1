import { PRACTICE_CUID, TOP_UP_OPERATION, type TrialCall } from "../../domain/practice.ts";
import type { Transaction } from "../../domain/transaction.ts";
import { type Instant, isoTime } from "../../domain/wall-time.ts";
import { CALLS_KEPT_MS } from "../../store/calls.ts";
import type { Db, Engine } from "../../store/engine.ts";
import { readTransactions } from "../transactions/lists.ts";
import type { Certificate } from "./schemas.ts";

/** Limits the memory of a report. */
const MOST_ROWS = 20_000;

/** Reads a partner's top-ups of the practice customer, and its other calls with their checkoutIds. */
export async function readPracticeCalls(db: Db, partnerId: number): Promise<TrialCall[]> {
  const practised = callsOf(db, partnerId).where("cuid", "=", PRACTICE_CUID).where("operation", "=", TOP_UP_OPERATION);
  const newest = callsOf(db, partnerId)
    .selectAll()
    .where("checkoutId", "in", practised.select("checkoutId"))
    .orderBy("id", "desc")
    .limit(MOST_ROWS);
  // Limited apart, so that a partner that only asks does not hide its top-ups.
  const topUps = await newest.where("operation", "=", TOP_UP_OPERATION).execute();
  const others = await newest.where("operation", "!=", TOP_UP_OPERATION).execute();
  return [...topUps, ...others].reverse().map(({ id: _, ...row }) => ({
    ...row,
    ...{ cuid: row.cuid ?? undefined, service: row.service ?? undefined, reqId: row.reqId ?? undefined },
    ...{ checkoutId: row.checkoutId ?? undefined, bouquetId: row.bouquetId ?? undefined },
    ...{ amount: row.amount ?? undefined, retryAfter: row.retryAfter ?? undefined },
  }));
}

function callsOf(db: Db, partnerId: number) {
  return db.selectFrom("trialCall").where("partnerId", "=", partnerId);
}

/** The content of a certificate; undefined if the partner has none. */
export async function findCertificate(db: Db, partnerId: number): Promise<Certificate | undefined> {
  const found = db.selectFrom("partner").select(["certifiedAt", "certificate"]).where("id", "=", partnerId);
  const { certifiedAt, certificate } = await found.executeTakeFirstOrThrow();
  if (certifiedAt === null || certificate === null) return undefined;
  return { certifiedAt: isoTime(certifiedAt), ...(JSON.parse(certificate) as Omit<Certificate, "certifiedAt">) };
}

export async function writeCertificate(tx: Db, partnerId: number, at: Instant, { versions, faults }: Certificate) {
  const values = { certifiedAt: at, certificate: JSON.stringify({ versions, faults }) };
  await tx.updateTable("partner").set(values).where("id", "=", partnerId).execute();
}

/** Reads a partner's recorded top-ups of the practice customer, as long as their calls are kept. */
export async function readPracticeTopUps(engine: Engine, partnerId: number, now: Instant): Promise<Transaction[]> {
  const filter = { environment: "trial", cuids: [PRACTICE_CUID], partnerId, from: now - CALLS_KEPT_MS } as const;
  const { items } = await readTransactions(engine, filter, { limit: MOST_ROWS });
  return [...items];
}
