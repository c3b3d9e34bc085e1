import type { Attribution } from "../../../domain/audit.ts";
import { secretRotated } from "../../../domain/audited-changes.ts";
import type { Instant } from "../../../domain/calendar.ts";
import { type CheckoutSecret, type Rotation, type RotationRefusal, rotation } from "../../../domain/checkout-secret.ts";
import { type FirstSecretParts, firstSecret, HAS_TOP_UPS, NEWEST_TOP_UP } from "../../common/first-secret.ts";
import type { Database } from "../session/database.ts";
import { LOCK_REFERENCE } from "../session/locks.ts";
import type { Memory } from "../session/memory.ts";
import type { Prepared, Query, Session } from "../session/session.ts";
import { auditing } from "./audit.ts";

const LIST: Prepared = {
  name: "secrets",
  text: `SELECT id, key, created_at AS "createdAt" FROM checkout_secret ORDER BY created_at DESC, id DESC`,
};
const NEWEST: Prepared = { name: "secret_newest_top_up", text: NEWEST_TOP_UP };
const PUT: Prepared = {
  name: "secret_put",
  text: `INSERT INTO checkout_secret (id, key, created_at) VALUES ($1, $2, $3)
    ON CONFLICT (id) DO UPDATE SET key = $2, created_at = $3`,
};

/** The SQL of the secrets that seal checkouts. */
export class CheckoutSecretTable {
  readonly #database: Database;
  readonly #memory: Memory;

  constructor(database: Database, memory: Memory) {
    this.#database = database;
    this.#memory = memory;
  }

  /** Newest first. Asked of every request, and therefore remembered. */
  async list(): Promise<readonly CheckoutSecret[]> {
    const list = await this.#memory.recall("secrets", () => this.#database.ask<CheckoutSecret>(LIST));
    return list as CheckoutSecret[];
  }

  async rotate(key: Uint8Array, by: Attribution, isClockRight: boolean): Promise<Rotation | RotationRefusal> {
    const opening: Query[] = [LOCK_REFERENCE, [LIST], [NEWEST]];
    const outcome = await this.#database.transact(opening, async ([, secrets, newest = []], session) => {
      const newestTopUp = (newest[0] as { at: Instant } | undefined)?.at;
      const rotated = rotation(secrets as CheckoutSecret[], { key, now: by.at, isClockRight, newestTopUp });
      if (rotated === "too_soon" || "kind" in rotated) return rotated;
      const puts = [...rotated.redated, rotated.added].map((each): Query => [PUT, [each.id, each.key, each.createdAt]]);
      await session.commit([...puts, ...(await auditing(session, [secretRotated(rotated)], by))]);
      return rotated;
    });
    this.#memory.forget();
    return outcome;
  }
}

/** Newest first, as they are stored. */
export async function listSecrets(session: Session): Promise<CheckoutSecret[]> {
  return session.run<CheckoutSecret>(LIST);
}

/**
 * All processes share the secret, so that each can open what another issued. To be called while opening.
 * @throws StoreRefused as {@link firstSecret}.
 */
export async function ensureCheckoutSecret(session: Session, parts: FirstSecretParts): Promise<void> {
  if ((await listSecrets(session)).length > 0) return;
  const [{ has_top_ups }] = (await session.ask(HAS_TOP_UPS)) as [{ has_top_ups: boolean }];
  const { id, key, createdAt } = firstSecret(has_top_ups, parts);
  await session.run(PUT, [id, key, createdAt]);
}
