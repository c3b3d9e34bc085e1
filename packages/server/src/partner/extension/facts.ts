import type { AccountKey } from "../../domain/account.ts";
import { factId, type RecordedEvent } from "../../domain/event.ts";
import { isoTime } from "../../domain/wall-time.ts";
import { findEntry } from "../../store/account-entries.ts";
import { findAccount } from "../../store/accounts.ts";
import { type OwnTopUp, readOwnTopUp } from "../../store/own-pages.ts";
import type { Store } from "../../store/store.ts";
import { meansOf } from "./account.ts";
import { entryItem } from "./entries.ts";
import { topUpItem } from "./top-ups.ts";

/* The messages of partners' webhooks. They show facts as the reports do, and nothing else. */

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
 * Makes the message about a fact. Only rows of this account are read.
 * @param shown replaced in tests.
 */
export async function factMessage(
  { engine: { db }, provider: { currencyExponent } }: Pick<Store, "engine" | "provider">,
  key: AccountKey,
  event: RecordedEvent,
  shown: typeof SHOWN = SHOWN,
): Promise<FactMessage> {
  const { kind, at } = event;
  const dataOf = async (): Promise<object> => {
    if (!("alert" in event)) {
      if (event.topUp === undefined) return {};
      return shown.topUp(asOf(kind, await readOwnTopUp(db, key, event.topUp.txnId)), currencyExponent);
    }
    const { entry, low } = event.alert;
    if (entry === undefined) {
      const { creditLimit } = await findAccount(db, key);
      return shown.means(known(low).balance, creditLimit, currencyExponent);
    }
    return shown.entry(known(await findEntry(db, key, entry.reference)), entry.balance, currencyExponent);
  };
  return { id: factId(event), type: kind, timestamp: isoTime(at), data: await dataOf() };
}

/** A later reversal is a fact of its own. */
function asOf(kind: RecordedEvent["kind"], found: OwnTopUp | undefined): OwnTopUp {
  const { transaction, reversedAt } = known(found);
  if (kind === "topup.reversed") return { transaction, reversedAt };
  return { transaction: { ...transaction, status: "success" }, reversedAt: undefined };
}

function known<Of>(found: Of | undefined): Of {
  if (found === undefined) throw new Error("the account has no such fact");
  return found;
}
