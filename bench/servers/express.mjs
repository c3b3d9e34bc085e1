// What a provider would write in an afternoon, and well: Express and pg, with a transaction for each top-up.
import { createHash } from "node:crypto";
import { createRequire } from "node:module";
import pg from "pg";

const express = createRequire(new URL("../../tools/", import.meta.url))("express");
const SERVICES = ["tv", "internet", "iptv"];
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 20 });
const app = express();

app.use((request, response, next) => {
  const begun = performance.now();
  response.on("finish", () => {
    const { method, originalUrl: path } = request;
    const ms = Math.round((performance.now() - begun) * 100) / 100;
    console.log(JSON.stringify({ time: Date.now(), method, path, status: response.statusCode, ms }));
  });
  next();
});
app.use(express.json());

app.post("/staging/api/third-party/v1.0.1/subscription-package-topup", authenticate, async (request, response) => {
  const problems = problemsOf(request.body);
  if (problems.length > 0) return refuse(response, 400, "400ad002", "invalid_field", problems);
  const client = await pool.connect();
  try {
    await client.query("BEGIN");
    const answer = await topUp(client, request.partnerId, request.body);
    await client.query("COMMIT");
    if (answer.refused === undefined) {
      response.json({ success: true, code: "400ab001", body: { result: answer.result } });
    } else {
      refuse(response, ...answer.refused);
    }
  } catch (error) {
    await client.query("ROLLBACK");
    throw error;
  } finally {
    client.release();
  }
});

app.use((error, _request, response, _next) => {
  console.error(error);
  refuse(response, error.status ?? 500, "400ae001", "internal_error");
});

const server = app.listen(0, "127.0.0.1", () => {
  console.log(JSON.stringify({ url: `http://127.0.0.1:${server.address().port}` }));
});
process.on("SIGTERM", () => {
  server.close(() => void pool.end());
  server.closeAllConnections();
});

async function authenticate(request, response, next) {
  const [, token] = /^Bearer (\S+)$/.exec(request.get("authorization") ?? "") ?? [];
  if (token === undefined) return refuse(response, 401, "400ac001", "missing_token");
  const hash = createHash("sha256").update(token).digest();
  const { rows } = await pool.query(
    "SELECT partner_id FROM access_tokens WHERE token_hash = $1 AND revoked_at IS NULL",
    [hash],
  );
  if (rows.length === 0) return refuse(response, 401, "400ac002", "unknown_token");
  request.partnerId = rows[0].partner_id;
  next();
}

function problemsOf(body) {
  const problems = [];
  for (const field of ["cuid", "reqId", "checkoutId", "bouquetId"]) {
    if (typeof body?.[field] !== "string" || body[field] === "") problems.push({ field, problem: "is missing" });
  }
  if (!SERVICES.includes(body?.service)) problems.push({ field: "service", problem: "is unknown" });
  if (!/^\d+(\.\d{1,2})?$/.test(String(body?.amt ?? ""))) problems.push({ field: "amt", problem: "is not an amount" });
  for (const field of ["udf1", "udf2"]) {
    const value = body?.[field];
    if (value !== undefined && (typeof value !== "string" || value.length > 30)) {
      problems.push({ field, problem: "must be a text of at most 30 characters" });
    }
  }
  return problems;
}

/** Runs inside of the transaction of `client`. */
async function topUp(client, partnerId, { cuid, service, reqId, checkoutId, bouquetId, amt, udf1, udf2 }) {
  const { rows: connections } = await client.query(
    `SELECT n.id, c.status AS customer_status, n.status
     FROM customers AS c JOIN connections AS n ON n.customer_id = c.id
     WHERE c.cuid = $1 AND n.service = $2 AND n.req_id = $3
     FOR UPDATE`,
    [cuid, service, reqId],
  );
  const [connection] = connections;
  if (connection === undefined) return { refused: [404, "400aa103", "connection_not_found"] };
  if (connection.customer_status !== "active") return { refused: [422, "400aa104", "customer_inactive"] };
  if (connection.status === "blocked") return { refused: [422, "400aa105", "connection_blocked"] };

  const { rows: earlier } = await client.query(
    `SELECT t.id, t.partner_id, t.connection_id, t.amount, t.status, t.created_at, b.code
     FROM transactions AS t JOIN bouquets AS b ON b.id = t.bouquet_id
     WHERE t.checkout_id = $1`,
    [checkoutId],
  );
  const [recorded] = earlier;
  const wanted = { checkoutId, cuid, reqId, service, bouquetId, amount: Number(amt) };
  if (recorded !== undefined) {
    const isSame =
      recorded.partner_id === partnerId &&
      recorded.connection_id === connection.id &&
      recorded.code === bouquetId &&
      Number(recorded.amount) === Number(amt);
    return isSame ? { result: resultOf(recorded, wanted) } : { refused: [409, "400ab103", "checkout_used"] };
  }

  const { rows: bouquets } = await client.query(
    "SELECT id, plan, price, months FROM bouquets WHERE service = $1 AND code = $2",
    [service, bouquetId],
  );
  const [bouquet] = bouquets;
  if (bouquet === undefined) return { refused: [422, "400ab105", "bouquet_unavailable"] };
  if (Number(bouquet.price) !== Number(amt)) return { refused: [422, "400ab106", "amount_mismatch"] };

  const { rows: inserted } = await client.query(
    `INSERT INTO transactions (checkout_id, partner_id, connection_id, bouquet_id, amount, udf1, udf2)
     VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING id, status, created_at`,
    [checkoutId, partnerId, connection.id, bouquet.id, amt, udf1 ?? null, udf2 ?? null],
  );
  await client.query(
    `INSERT INTO subscriptions AS s (connection_id, plan, bouquet_id, start_at, end_at)
     VALUES ($1, $2, $3, now(), now() + make_interval(months => $4))
     ON CONFLICT (connection_id, plan) DO UPDATE SET
       bouquet_id = excluded.bouquet_id,
       end_at = greatest(s.end_at, now()) + make_interval(months => $4)`,
    [connection.id, bouquet.plan, bouquet.id, bouquet.months],
  );
  return { result: resultOf(inserted[0], wanted) };
}

function resultOf({ id, status, created_at: at }, { checkoutId, cuid, reqId, service, bouquetId, amount }) {
  const txnDate = at.toISOString().slice(0, 19).replace("T", " ");
  return { orderId: checkoutId, txnId: id, cuid, reqId, bouquetId, amt: amount, txnDate, status, service };
}

function refuse(response, status, code, reason, fields) {
  response.status(status).json({ success: false, code, body: { reason, fields } });
}
