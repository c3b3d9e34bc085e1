import type { Static } from "typebox";
import type { ConnectionKey } from "../../src/domain/customer.ts";
import type { TopUpCommand } from "../../src/domain/top-up.ts";
import { setCommission } from "../../src/office/accounts/commission.ts";
import { changeAccount, enterIntoAccount, showAccount } from "../../src/office/accounts/operations.ts";
import { limitPartner } from "../../src/office/partners/operations.ts";
import { sumBalance } from "../../src/store/account-sums.ts";
import { readBalance } from "../../src/store/accounts.ts";
import { by } from "../support/by.ts";
import { run } from "../support/desk.ts";
import { partnersOf } from "../support/partners.ts";
import type { MakeDatabase, OpenOptions } from "./database.ts";
import { openProvider, SITA_NET } from "./provider.ts";

export const ACCOUNT = { name: "wallet", environment: "production" } as const;
type Entry = Omit<Static<(typeof enterIntoAccount)["input"]>, "name" | "environment">;

/** A provider whose partner calls with a token, so that its terms apply. */
export async function openAccountDesk(makeDatabase: MakeDatabase, options: Partial<OpenOptions> = {}) {
  const opened = await openProvider(makeDatabase, options);
  const { store, partner } = opened;
  const key = { partnerId: partner.id, environment: "production" } as const;
  const token = { id: "tok", partner, environment: "production", createdAt: 0 } as const;
  const ends = { expiresAt: undefined, revokedAt: undefined, replacedBy: undefined };
  await partnersOf(store).addToken({ ...token, ...ends }, new Uint8Array(32), by(opened.now));
  const { command: commandOf } = opened;
  const command = (of: ConnectionKey, code: string) => commandOf(of, code, { tokenId: "tok" });
  const settle = async (topUp: TopUpCommand, on = store) => {
    const outcome = await on.settleTopUp(topUp);
    return outcome.kind === "refused" ? outcome.refusal : outcome.kind;
  };
  return Object.assign(opened, {
    settle,
    command,
    buy: async (of = SITA_NET, code = "NET-1M") => {
      const topUp = command(of, code);
      return [await settle(topUp), topUp.checkoutId] as const;
    },
    enter: (entry: Entry, on = store) => run(opened.desk(on), enterIntoAccount, { ...ACCOUNT, ...entry }),
    account: (change: { creditLimit?: string; alertBelow?: string }, on = store) =>
      run(opened.desk(on), changeAccount, { ...ACCOUNT, ...change }),
    show: (on = store) => run(opened.desk(on), showAccount, ACCOUNT),
    limit: (limits: { topUpAmount?: string; dayAmount?: string; dayTopUps?: string }, on = store) =>
      run(opened.desk(on), limitPartner, { name: "wallet", ...limits }),
    commission: (rule: Omit<Static<(typeof setCommission)["input"]>, "name">) =>
      run(opened.desk(), setCommission, { name: "wallet", ...rule }),
    balances: async (on = store) => [await readBalance(on.engine.db, key), await sumBalance(on.engine.db, key)],
  });
}

export const deposit = (amount: string, reference: string, more: object = {}): Entry => ({
  ...{ kind: "deposit", amount, reference, ...more },
});
