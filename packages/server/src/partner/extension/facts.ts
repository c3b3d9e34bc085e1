import type { AccountKey } from "../../domain/account.ts";
import { ACCOUNT_ENTRY } from "../../domain/alert.ts";
import type { Money } from "../../domain/money.ts";
import { type PartnersFact, partnersIdOf } from "../../domain/subject.ts";
import { type Instant, isoTime } from "../../domain/wall-time.ts";
import { findEntries } from "../../store/account-entries.ts";
import { findAccount, readBalance } from "../../store/accounts.ts";
import { type OwnTopUp, readOwnTopUpsOf } from "../../store/own-pages.ts";
import type { Store } from "../../store/store.ts";
import { meansOf } from "./account.ts";
import { entryItem } from "./entries.ts";
import { topUpItem } from "./top-ups.ts";

/*
 * The messages of partners' webhooks, made from the rows of the account at sending. They show facts as the reports do, and
 * nothing else.
 */

/** A fact as a webhook sends it. The time is in ISO 8601. */
export interface FactMessage {
  readonly id: string;
  readonly type: string;
  readonly timestamp: string;
  readonly data: object;
}

/** How each type of fact is shown. */
export const SHOWN = { topUp: topUpItem, entry: entryItem, means: meansOf };

/**
 * Makes the messages about some facts, in their order. Only rows of this account are read.
 * @param number of a message with a balance: one that is read later has a greater number.
 * @param shown replaced in tests.
 * @returns undefined for a fact that the account does not have (any more).
 */
export async function factMessages(
  { engine: { db }, provider: { currencyExponent } }: Pick<Store, "engine" | "provider">,
  key: AccountKey,
  facts: readonly PartnersFact[],
  number: number,
  shown: typeof SHOWN = SHOWN,
): Promise<(FactMessage | undefined)[]> {
  const txnIds = facts.flatMap((fact) => ("txnId" in fact ? [fact.txnId] : []));
  const references = facts.flatMap((fact) => ("reference" in fact ? [fact.reference] : []));
  const topUps = new Map((await readOwnTopUpsOf(db, key, txnIds)).map((each) => [each.transaction.txnId, each]));
  const entries = new Map((await findEntries(db, key, references)).map((each) => [each.reference, each]));
  const { creditLimit } = await findAccount(db, key);
  // Most facts are top-ups, which need no sum.
  const hasBalance = facts.some((fact) => !("txnId" in fact));
  const balance: Money = hasBalance ? await readBalance(db, key) : 0n;

  const messageOf = (fact: PartnersFact): FactMessage | undefined => {
    const message = (type: string, at: Instant, data: object) => {
      return { id: partnersIdOf(fact), type, timestamp: isoTime(at), data };
    };
    switch (fact.kind) {
      case "topup": {
        const topUp = topUps.get(fact.txnId);
        if (topUp === undefined) return undefined;
        return message("topup.recorded", topUp.transaction.at, shown.topUp(asRecorded(topUp), currencyExponent));
      }
      case "reversal": {
        const topUp = topUps.get(fact.txnId);
        if (topUp?.reversed === undefined) return undefined;
        return message("topup.reversed", topUp.reversed.instant, shown.topUp(topUp, currencyExponent));
      }
      case "entry": {
        const entry = entries.get(fact.reference);
        if (entry === undefined) return undefined;
        return message(ACCOUNT_ENTRY, entry.at, { ...shown.entry(entry, balance, currencyExponent), number });
      }
      case "low":
        return message("account.low", fact.at, { ...shown.means(balance, creditLimit, currencyExponent), number });
    }
  };
  return facts.map(messageOf);
}

/** A later reversal is a fact of its own. */
function asRecorded({ transaction }: OwnTopUp): OwnTopUp {
  return { transaction: { ...transaction, status: "success" }, reversed: undefined };
}
