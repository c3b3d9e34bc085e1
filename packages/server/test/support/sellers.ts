import { hashSecret } from "../../src/domain/access-token.ts";
import type { Environment } from "../../src/domain/customer.ts";
import type { Actor } from "../../src/office/office.ts";
import type { Store } from "../../src/store/store.ts";

/** Adds a seller of a partner, with the access token of the same name. */
export async function addSeller(
  { engine }: Pick<Store, "engine">,
  name: string,
  partnerId: number,
  at: number,
  environment: Environment = "production",
): Promise<Actor> {
  const tokenHash = hashSecret(name);
  const staffId = at + tokenHash.readUInt16BE();
  const ends = { expiresAt: null, revokedAt: null, replacedBy: null };
  const token = { hash: tokenHash, id: `tok_${name}`, partnerId, environment, createdAt: at, ...ends };
  await engine.db.insertInto("accessToken").values(token).execute();
  const none = { oidcSubject: null, totpSecret: null, totpStep: null, lastLogInAt: null };
  const account = { id: staffId, name, role: "seller", tokenHash, createdAt: at, password: "hash" } as const;
  const rest = { recoveryCodes: "[]", places: "[]", mustChangePassword: 0 } as const;
  await engine.db
    .insertInto("staff")
    .values({ ...account, ...none, ...rest })
    .execute();
  return { name, authority: { staffId, role: "seller", sessionId: undefined } };
}
