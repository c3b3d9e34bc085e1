/**
 * Each counts rows that must not be there, in SQL that every store speaks. It reads each table once, or by a key. There is
 * no NOT IN among them: PostgreSQL reads all that it names anew for every row, once that is more than fits into work_mem.
 */
export const CONTRADICTIONS: readonly (readonly [what: string, query: string])[] = [
  [
    "subscriptions without a grant",
    `SELECT count(*) AS count FROM (SELECT cuid, environment, service, req_id, plan FROM subscription
       EXCEPT SELECT cuid, environment, service, req_id, plan FROM subscription_grant) AS without_grant`,
  ],
  [
    "grants of a top-up that is not on record",
    `SELECT count(*) AS count FROM subscription_grant AS g WHERE g.kind = 'top_up' AND NOT EXISTS
       (SELECT 1 FROM top_up AS t WHERE t.checkout_id = g.checkout_id AND t.at = g.at AND t.bouquet_code = g.code
          AND (t.cuid, t.environment, t.service, t.req_id) = (g.cuid, g.environment, g.service, g.req_id))`,
  ],
  [
    "top-ups without a grant",
    `SELECT count(*) AS count FROM (SELECT checkout_id FROM top_up WHERE NOT imported
       EXCEPT SELECT checkout_id FROM subscription_grant WHERE kind = 'top_up') AS without_grant`,
  ],
  [
    "top-ups with more than one grant",
    `SELECT count(*) AS count FROM (SELECT 1 FROM subscription_grant WHERE kind = 'top_up'
       GROUP BY checkout_id HAVING count(*) > 1) AS doubled`,
  ],
  [
    "top-ups of another topupd with a grant",
    `SELECT count(*) AS count FROM subscription_grant AS g WHERE g.kind IN ('top_up', 'reversal') AND EXISTS
       (SELECT 1 FROM top_up AS t WHERE t.checkout_id = g.checkout_id AND t.imported)`,
  ],
  [
    "txnIds that more than one top-up has",
    "SELECT count(*) AS count FROM (SELECT 1 FROM top_up GROUP BY txn_id HAVING count(*) > 1) AS doubled",
  ],
  [
    "top-ups of a partner who is not there",
    "SELECT count(*) AS count FROM top_up AS t WHERE NOT EXISTS (SELECT 1 FROM partner AS p WHERE p.id = t.partner_id)",
  ],
  [
    "top-ups that are reversed without a reversal",
    `SELECT count(*) AS count FROM (SELECT checkout_id FROM top_up WHERE status = 'reversed'
       EXCEPT SELECT checkout_id FROM reversal) AS without_reversal`,
  ],
  [
    "reversals of a top-up that is not reversed",
    `SELECT count(*) AS count FROM (SELECT checkout_id FROM reversal
       EXCEPT SELECT checkout_id FROM top_up WHERE status = 'reversed') AS without_top_up`,
  ],
  // A settlement adds up what the reversals themselves say.
  [
    "reversals of something else than their top-up",
    `SELECT count(*) AS count FROM reversal AS r JOIN top_up AS t ON t.checkout_id = r.checkout_id
     WHERE (r.txn_id, r.partner_id, r.environment, r.service, r.bouquet_code, r.amount)
       <> (t.txn_id, t.partner_id, t.environment, t.service, t.bouquet_code, t.amount)`,
  ],
  [
    "reversals that the ledger does not know, or has at another time",
    `SELECT count(*) AS count FROM (SELECT checkout_id, at FROM reversal
       EXCEPT SELECT checkout_id, at FROM subscription_grant WHERE kind = 'reversal'
       EXCEPT SELECT r.checkout_id, r.at FROM reversal AS r JOIN top_up AS t ON t.checkout_id = r.checkout_id
         WHERE t.imported) AS without_entry`,
  ],
  [
    "reversals in the ledger that are not on record",
    `SELECT count(*) AS count FROM (SELECT checkout_id FROM subscription_grant WHERE kind = 'reversal'
       EXCEPT SELECT checkout_id FROM reversal) AS without_record`,
  ],
  [
    "top-ups that were reversed twice",
    `SELECT count(*) AS count FROM (SELECT 1 FROM subscription_grant WHERE kind = 'reversal'
       GROUP BY checkout_id HAVING count(*) > 1) AS doubled`,
  ],
  [
    "top-ups that a partner was told could never be made",
    "SELECT count(*) AS count FROM retired_checkout JOIN top_up USING (checkout_id)",
  ],
  [
    "connections without a customer",
    `SELECT count(*) AS count FROM connection AS c WHERE NOT EXISTS
       (SELECT 1 FROM customer WHERE customer.cuid = c.cuid AND customer.environment = c.environment)`,
  ],
  [
    "subscriptions without a connection",
    `SELECT count(*) AS count FROM (SELECT cuid, environment, service, req_id FROM subscription
       EXCEPT SELECT cuid, environment, service, req_id FROM connection) AS without_connection`,
  ],
  [
    "connections that cannot be looked up",
    `SELECT count(*) AS count FROM connection AS c WHERE NOT EXISTS (SELECT 1 FROM customer_code AS k
       WHERE k.code = c.req_id AND k.environment = c.environment AND k.cuid = c.cuid)`,
  ],
  [
    "customers that cannot be looked up",
    `SELECT count(*) AS count FROM customer AS c WHERE NOT EXISTS (SELECT 1 FROM customer_code AS k
       WHERE k.code = c.cuid AND k.environment = c.environment AND k.cuid = c.cuid)`,
  ],
  [
    "mobile numbers that cannot be looked up",
    `SELECT count(*) AS count FROM customer AS c WHERE mobile IS NOT NULL AND NOT EXISTS (SELECT 1 FROM customer_code AS k
       WHERE k.code = c.mobile AND k.environment = c.environment AND k.cuid = c.cuid)`,
  ],
  [
    "mobile numbers that cannot be looked up in another form",
    `SELECT count(*) AS count FROM customer AS c WHERE mobile_e164 IS NOT NULL AND NOT EXISTS (SELECT 1 FROM customer_code AS k
       WHERE k.code = c.mobile_e164 AND k.environment = c.environment AND k.cuid = c.cuid)`,
  ],
  [
    "codes that are not those of their customer",
    `SELECT count(*) AS count FROM customer_code AS k
     WHERE NOT EXISTS (SELECT 1 FROM customer AS c
         WHERE c.cuid = k.cuid AND c.environment = k.environment AND (c.cuid = k.code OR c.mobile = k.code OR c.mobile_e164 = k.code))
       AND NOT EXISTS (SELECT 1 FROM connection AS c
         WHERE c.cuid = k.cuid AND c.environment = k.environment AND c.req_id = k.code)`,
  ],
  [
    "tokens that were replaced by none of their partner's, or never end",
    `SELECT count(*) AS count FROM access_token AS t WHERE t.replaced_by IS NOT NULL AND (t.expires_at IS NULL
       OR NOT EXISTS (SELECT 1 FROM access_token AS s WHERE s.id = t.replaced_by
         AND s.partner_id = t.partner_id AND s.environment = t.environment))`,
  ],
];
