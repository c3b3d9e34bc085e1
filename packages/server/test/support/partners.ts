import type { AccessToken, Partner, PartnerStatus } from "../../src/domain/access-token.ts";
import type { AccountKey } from "../../src/domain/account.ts";
import type { AddressList } from "../../src/domain/address-list.ts";
import { type Attribution, tokenIssued } from "../../src/domain/audit.ts";
import { NO_LIMIT, type PartnerLimits } from "../../src/domain/partner-limits.ts";
import { addPartner, changePartner, limitPartner } from "../../src/office/partners/operations.ts";
import { findPartner, insertToken, readPartners, readTokens } from "../../src/office/partners/sql.ts";
import { revokeToken } from "../../src/office/partners/tokens.ts";
import { type AccountSettings, putAccount } from "../../src/store/accounts.ts";
import { appendAudits } from "../../src/store/audit.ts";
import type { Store } from "../../src/store/store.ts";
import { deskOf, run } from "./desk.ts";

/** Limits that refuse nothing, for tests that send as fast as they can. */
export const UNLIMITED: PartnerLimits = {
  ...{ rate: NO_LIMIT, burst: NO_LIMIT, newLookUps: NO_LIMIT },
};

/** Settings of a partner's account, for tests of something else. */
export async function setAccount(
  { engine }: Store,
  key: AccountKey,
  settings: Partial<AccountSettings>,
): Promise<void> {
  const none = { creditLimit: undefined, alertBelow: undefined, hasDayLimits: false };
  await engine.change(async (tx) => {
    await engine.lockRecording(tx);
    await putAccount(tx, key, { ...none, ...settings });
  });
}

/** Partners and tokens of a store, for tests of something else. */
export function partnersOf(store: Store) {
  const { engine } = store;
  const deskFor = ({ author: name, authority, at }: Attribution) =>
    deskOf({ store, clock: () => at }, { name, authority });
  const find = (name: string) => findPartner(engine.db, name);
  return {
    find,
    list: () => readPartners(engine.db),
    listTokens: () => readTokens(engine.db),
    /** @throws Refused */
    async add(name: string, by: Attribution): Promise<Partner> {
      const reason = by.reason === undefined ? {} : { reason: by.reason };
      await run(deskFor(by), addPartner, { name, ...reason });
      return (await find(name)) as Partner;
    },
    setStatus: (name: string, status: PartnerStatus, by: Attribution) =>
      run(deskFor(by), changePartner, { name, status }),
    setAllowedAddresses: (name: string, addresses: AddressList | undefined, by: Attribution) =>
      run(deskFor(by), changePartner, {
        name,
        allowedAddresses: addresses === undefined ? null : [...addresses.ranges],
      }),
    setLimits: (name: string, limits: Partial<PartnerLimits>, by: Attribution) =>
      run(deskFor(by), limitPartner, { name, ...limits }),
    /** Adds a token whose id and hash the test knows. */
    addToken: (token: AccessToken, hash: Uint8Array, by: Attribution) =>
      engine.change(async (tx) => {
        await insertToken(tx, token, hash);
        await appendAudits(engine, tx, [tokenIssued(token)], by);
      }),
    revokeToken: (id: string, by: Attribution) => run(deskFor(by), revokeToken, { id }),
  };
}
