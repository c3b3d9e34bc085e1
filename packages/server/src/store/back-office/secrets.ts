import type { Kysely } from "kysely";
import { secretRotated } from "../../domain/audited-changes.ts";
import { type CheckoutSecret, rotation } from "../../domain/checkout-secret.ts";
import type { CheckoutSecrets } from "../changes.ts";
import type { Tables } from "../tables.ts";
import { appendAudit } from "./audit.ts";
import type { Engine } from "./engine.ts";

export function secretsOf(engine: Engine): CheckoutSecrets {
  return {
    rotate: (key, by) =>
      engine.change(async (tx) => {
        const rotated = rotation(await listSecrets(tx), key, by.at);
        if (rotated === "too_soon") return rotated;
        const { id, createdAt } = rotated.added;
        const values = { key, created_at: createdAt };
        await tx
          .insertInto("checkout_secret")
          .values({ id, ...values })
          .onConflict((on) => on.column("id").doUpdateSet(values))
          .execute();
        await appendAudit(engine, tx, secretRotated(rotated), by);
        return rotated;
      }),
  };
}

/** Newest first. */
export async function listSecrets(db: Kysely<Tables>): Promise<CheckoutSecret[]> {
  const query = db.selectFrom("checkout_secret").selectAll().orderBy("created_at", "desc").orderBy("id", "desc");
  return (await query.execute()).map(({ id, key, created_at: createdAt }) => ({ id, key, createdAt }));
}
