import type { Mutant } from "./mutant.ts";

const MODEL = "model --rounds 60";
const PAID_TIME = "paid-time --rounds 200";
const PREPAID = "prepaid --rounds 1 --top-ups 200 --covered 60";
const MIDNIGHT = "midnight --rounds 3";
const KILL = "kill --rounds 3 --workers 2";
const RACE = "race --rounds 3";
const LOSSY = "lossy --rounds 80";
const CLOCKS = "clocks --rounds 10";
const MONTH = "month --rounds 1";
const DELIVER = "deliver --events 300 --rounds 1";
const POWER = "power --images 200";
const FAULTS = "faults --rounds 9 --workers 2";
const ON_POSTGRES = "faults --store postgres --rounds 9";
const FAILOVER = "failover --store postgres --rounds 1";
const commandsOf = (only: string, rounds = 2) => `commands --rounds ${rounds} --only ${only}`;
const COUNTER = "counter --events 80 --rounds 2 --workers 2";

/** Faults on the path of money that campaigns find. */
export const FOUND_BY_CAMPAIGNS: readonly Mutant[] = [
  {
    fault: "a repeated top-up is compared with nothing",
    file: "packages/server/src/domain/top-up.ts",
    from: 'return same ? { kind: "replayed", transaction: recorded } : refuse("checkout_used");',
    to: 'return same || true ? { kind: "replayed", transaction: recorded } : refuse("checkout_used");',
    campaign: MODEL,
  },
  {
    fault: "a recorded top-up is not asked for",
    file: "packages/server/src/store/sqlite/top-ups.ts",
    from: 'recorded: recorded.some(({ what }) => what === "top_up") ? find(checkoutId) : undefined,',
    to: "recorded: undefined,",
    campaign: RACE,
  },
  {
    fault: "a retired checkout can be used",
    file: "packages/server/src/domain/top-up.ts",
    from: "if (retired !== undefined || isCheckoutExpired(command.checkout, now.instant))",
    to: "if (isCheckoutExpired(command.checkout, now.instant))",
    campaign: CLOCKS,
  },
  {
    fault: "an expired checkout can be used",
    file: "packages/server/src/domain/checkout.ts",
    from: "return now - checkout.issuedAt > CHECKOUT_VALID_MS;",
    to: "return now - checkout.issuedAt > CHECKOUT_VALID_MS + 600_000;",
    campaign: MODEL,
  },
  {
    fault: "never_topped_up is answered before the checkout is retired",
    file: "packages/server/src/store/settling.ts",
    from: 'if (conclusion === "retire") write.retire(checkoutId, { retiredAt: now, refused: undefined });',
    to: "",
    campaign: CLOCKS,
  },
  {
    fault: "a refusal for money does not retire the checkout",
    file: "packages/server/src/store/settling.ts",
    from: "if (retired !== undefined && snapshot.retired === undefined) write.retire(command.checkoutId, retired);",
    to: "",
    campaign: PREPAID,
  },
  {
    fault: "the price is not compared",
    file: "packages/server/src/domain/top-up.ts",
    from: 'if (bouquet.price !== command.amount) return refuse("amount_mismatch");',
    to: "",
    campaign: LOSSY,
  },
  {
    fault: "a checkout fits any connection",
    file: "packages/server/src/domain/top-up.ts",
    from: 'if (!isCheckoutFor(command.checkoutId, command)) return refuse("checkout_mismatch");',
    to: "",
    campaign: MODEL,
  },
  {
    fault: "a blocked connection can be topped up",
    file: "packages/server/src/domain/top-up.ts",
    from: "if (!open.ok) return refuse(open.refusal);",
    to: 'if (!open.ok && open.refusal !== "connection_blocked") return refuse(open.refusal);',
    campaign: MODEL,
  },
  {
    fault: "the balance may fall below the credit limit",
    file: "packages/server/src/domain/account.ts",
    from: "if (creditLimit !== undefined && balance < -creditLimit)",
    to: "if (creditLimit !== undefined && balance < -creditLimit - 10_000_000n)",
    campaign: PREPAID,
  },
  {
    fault: "the limit of top-ups a day is one more",
    file: "packages/server/src/domain/account.ts",
    from: "if (dayTopUps !== undefined && topUps + 1 > dayTopUps)",
    to: "if (dayTopUps !== undefined && topUps > dayTopUps)",
    campaign: MIDNIGHT,
  },
  {
    fault: "a batch reads the balance once for all its top-ups",
    file: "packages/server/src/store/guarded-accounts.ts",
    from: "if (!this.#accounts.has(name)) this.#accounts.set(name, this.#load.account(key));\n    return this.#accounts.get(name);",
    to: "return this.#load.account(key);",
    campaign: PREPAID,
  },
  {
    fault: "the account is not charged",
    file: "packages/server/src/store/sqlite/top-ups.ts",
    from: "for (const row of accounts.charged) chargeAccount(row);",
    to: "",
    campaign: PREPAID,
  },
  {
    fault: "the sums of the day are not written",
    file: "packages/server/src/store/sqlite/top-ups.ts",
    from: "for (const row of accounts.sales.rows) addSales(row);",
    to: "",
    campaign: MIDNIGHT,
  },
  {
    fault: "a reversal returns nothing",
    file: "packages/server/src/office/corrections/correct.ts",
    from: "await returnCharge(tx, reversed);",
    to: "",
    campaign: MIDNIGHT,
  },
  {
    fault: "a reversal is not in the sums of the day",
    file: "packages/server/src/office/corrections/correct.ts",
    from: "await office.store.engine.addSales(tx, reversalRows(reversed, by.at.wall));",
    to: "",
    campaign: MONTH,
  },
  {
    fault: "a reversal counts on the day of the top-up",
    file: "packages/server/src/store/sales.ts",
    from: "return [rowOf(labelOf(topUp, wall), { ...NO_SALES, reversals: 1, reversed, returned })];",
    to: "return [rowOf(labelOf(topUp, topUp.txnDate ?? wall), { ...NO_SALES, reversals: 1, reversed, returned })];",
    campaign: MIDNIGHT,
  },
  {
    fault: "a top-up counts on the next day",
    file: "packages/server/src/store/sales.ts",
    from: "const label = labelOf(topUp, topUp.txnDate);",
    to: 'const label = labelOf(topUp, dayAfter(topUp.txnDate.slice(0, 10)) + " 00:00:00");',
    campaign: MIDNIGHT,
  },
  {
    fault: "a renewal before the end begins a new run",
    file: "packages/server/src/domain/ledger.ts",
    from: "const run = isRunning(before, at.wall) ? before : newRun(plan, bouquet, at.wall, seq);",
    to: "const run = newRun(plan, bouquet, at.wall, seq);",
    campaign: KILL,
  },
  {
    fault: "a reversed grant still counts",
    file: "packages/server/src/domain/ledger.ts",
    from: 'else if (entry.kind !== "reversal" && !reversedAt.has(entry.seq)) now = granted(plan, now, entry);',
    to: 'else if (entry.kind !== "reversal") now = granted(plan, now, entry);',
    campaign: PAID_TIME,
  },
  {
    fault: "an import forgets the top-ups after it",
    file: "packages/server/src/domain/ledger.ts",
    from: "if (isNews(grant, records, start) && !reversedAt.has(grant.seq))",
    to: "if (isNews(grant, records, start) && grant.seq < 0)",
    campaign: PAID_TIME,
  },
  {
    fault: "an import forgets what was reversed since",
    file: "packages/server/src/domain/ledger.ts",
    from: "if (reversed !== undefined && reversed > asOf.instant) now = shortened(now, grant.period);",
    to: "",
    campaign: PAID_TIME,
  },
  {
    fault: "an end on the 31st moves to the 28th for good",
    file: "packages/server/src/domain/subscription.ts",
    from: "return countedTo(run, { months: run.months + months, days: run.days + days }, bouquet);",
    to: "return countedTo({ ...run, anchor: run.end, months: 0, days: 0 }, { months, days }, bouquet);",
    campaign: PAID_TIME,
  },
  {
    fault: "the ledger's entry of a top-up is not written",
    file: "packages/server/src/store/sqlite/top-ups.ts",
    from: "append({ key: transaction, plan, entry }, lastEntryOf(plan));",
    to: "",
    campaign: KILL,
  },
  {
    fault: "a batch that failed is answered as recorded",
    file: "packages/server/src/store/batcher.ts",
    from: "for (const [index, { resolve }] of batch.entries()) resolve(outcomes[index] as Outcome);",
    to: "for (const [index, { resolve }] of batch.entries()) resolve(outcomes[(index + 1) % batch.length] as Outcome);",
    campaign: KILL,
  },
  {
    fault: "a shift does not count returned cash",
    file: "packages/server/src/domain/sale.ts",
    from: "return opening + cash.amount - returned.amount;",
    to: "return opening + cash.amount;",
    campaign: COUNTER.replace("80", "400"),
  },
  {
    fault: "sales of a seller are written without the top-up's transaction",
    file: "packages/server/src/store/settling.ts",
    from: "if (command.sale !== undefined) write.recordSale(outcome.transaction, command.sale);",
    to: "",
    campaign: COUNTER,
  },
  {
    fault: "a commit is not flushed",
    file: "packages/server/src/store/sqlite/database.ts",
    from: "try {\n      this.verifyDurability();",
    to: 'try {\n      this.#connection.exec("PRAGMA synchronous = NORMAL");',
    campaign: POWER,
  },
  {
    fault: "an event is dropped",
    file: "packages/server/src/store/settling.ts",
    from: "for (const event of events) write.appendEvent(event);",
    to: "for (const event of events.slice(1)) write.appendEvent(event);",
    campaign: DELIVER,
  },
  {
    fault: "the commission is charged too",
    file: "packages/server/src/domain/account.ts",
    from: "const balance = account.balance - chargeOf(topUp);",
    to: "const balance = account.balance - amount;",
    campaign: PREPAID,
  },
  {
    fault: "a subscription still runs at its end",
    file: "packages/server/src/domain/subscription.ts",
    from: "return run !== undefined && run.end > now;",
    to: "return run !== undefined && run.end >= now;",
    campaign: "paid-time --rounds 2000",
  },
  {
    fault: "a reversal leaves the end as it was",
    file: "packages/server/src/domain/ledger.ts",
    from: "return { ...uncounted, after: recount(ledger.plan, [...entries, uncounted]).at(-1) };",
    to: "return { ...uncounted, after: entries.at(-1)?.after };",
    campaign: PAID_TIME,
  },
  {
    fault: "a commit that the disk refuses is taken as done",
    file: "packages/server/src/store/sqlite/database.ts",
    from: "this.#commit.run();",
    to: "try { this.#commit.run(); } catch {}",
    campaign: FAULTS,
  },
  {
    fault: "a commit without an answer is taken as done, and its session as idle",
    file: "packages/server/src/store/postgres/session.ts",
    from: "if (failed !== undefined) throw translateAtCommit(failed.reason);",
    to: 'if (settled.at(-1)?.status === "rejected") return void (this.#client.getTransactionStatus = () => "I");\n    if (failed !== undefined) throw translateAtCommit(failed.reason);',
    campaign: ON_POSTGRES,
  },
  {
    fault: "a commit does not wait for the standby",
    file: "packages/server/src/store/postgres/session.ts",
    from: "replace(current_setting('synchronous_commit'), 'off', 'on')",
    to: "'local'",
    campaign: FAILOVER,
  },
  {
    fault: "a restore is not one transaction",
    file: "packages/server/src/store/sqlite/engine.ts",
    from: "translating(() => rows.forEach(insertion));",
    to: "translating(() => rows.forEach(insertion));\n      database.commit();\n      await database.beginWriting();",
    campaign: commandsOf("restore", 8),
  },
  {
    fault: "a copy leaves retired checkouts out, and does not count its rows",
    file: "packages/server/src/store/archive-filling.ts",
    from: "refuse(await findDifferences(engine, filling, totals, digests));",
    to: 'await withRawNames(filling.db).deleteFrom("retired_checkout").execute();',
    campaign: commandsOf("copy"),
  },
  {
    fault: "a backup is written under its own name",
    file: "packages/server/src/system/files.ts",
    from: '.part`;\n  const file = await open(unfinished, "wx", 0o600);',
    to: '.part`.slice(0, path.length);\n  replace = true;\n  const file = await open(unfinished, "w", 0o600);',
    campaign: commandsOf("backup", 8),
  },
  {
    fault: "a prune deletes the sums of its days too",
    file: "packages/server/src/office/maintenance/prune.ts",
    from: 'await tx.deleteFrom("topUp").where("txnId", "in", txnIds).execute();',
    to: 'await tx.deleteFrom("topUp").where("txnId", "in", txnIds).execute();\n        await tx.deleteFrom("salesDay").where("day", "<", horizon.wall.slice(0, 10)).execute();',
    campaign: commandsOf("prune"),
  },
  {
    fault: "a bulk change moves on before its portion is written",
    file: "packages/server/src/office/bulk/correct.ts",
    from: "for (const effect of corrected) await writeEffect(engine, tx, order, effect, correcting);",
    to: "for (const effect of corrected) void engine.transact((own) => writeEffect(engine, own, order, effect, correcting));",
    campaign: commandsOf("bulk"),
  },
];
