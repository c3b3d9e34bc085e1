import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { hashSecret } from "../../src/domain/access-token.ts";
import { AddressList } from "../../src/domain/address-list.ts";
import { type AccountTools, PasswordsBusy } from "../../src/domain/passwords.ts";
import type { StaffMember } from "../../src/domain/staff.ts";
import type { TemporaryFile } from "../../src/faces/staff-api/app.ts";
import { beginAnswer, findStaff } from "../../src/office/session/sql.ts";
import { addStaffKey, removeStaffKey } from "../../src/office/staff/keys.ts";
import { StoreUnavailable } from "../../src/store/errors.ts";
import type { Store } from "../../src/store/store.ts";
import { createTemporaryFile } from "../../src/system/files.ts";
import { deskOf, run } from "../support/desk.ts";
import { type Asked, COOKIE, PASSWORD, shareStaffApi, startStaffApi } from "../support/staff-api.ts";

const MINUTE = 60_000;
const PROXY = "10.0.0.1";
const JSON_TYPE = { "content-type": "application/json" };
const NDJSON_TYPE = { "content-type": "application/x-ndjson" };
const field = (name: string, problem: string) => ({ field: name, problem });

/** The files that were sent and are still here. */
const onDisk = new Set<object>();
const gate = { isOpen: Promise.resolve() };
let sent = 0;

function countedFile(): TemporaryFile {
  const file = createTemporaryFile(join(shared().folder, `sent-${sent++}`));
  const counted: TemporaryFile = {
    ...file,
    write: async (pieces) => {
      onDisk.add(counted);
      await gate.isOpen;
      await file.write(pieces);
    },
    remove: async () => {
      await file.remove();
      onDisk.delete(counted);
    },
  };
  return counted;
}

/** What goes wrong with the store. */
const trouble = { addingPartners: false, pinging: false };
const counted: string[] = [];
const shared = shareStaffApi({
  world: { countFailedLogIn: (outcome) => counted.push(outcome) },
  trustedProxies: new AddressList([PROXY as never]),
  consoleNames: new Set(["console.example", "inner"]),
  ...{ mostFileBytes: 1_000, mostFileLines: 5, createTemporaryFile: countedFile },
  wrapStore: (store: Store): Store => ({
    ...store,
    engine: {
      ...store.engine,
      change: async (work) => {
        const changed = await store.engine.change(work);
        if (trouble.addingPartners) throw new StoreUnavailable("the database is unavailable");
        return changed;
      },
    },
    ping: () => (trouble.pinging ? Promise.reject(new Error("Sita, 9800000001")) : store.ping()),
  }),
});

/** Logs in by a request of its own, as somebody who is added for it. */
async function logInAs(name: string, asked: Asked = {}) {
  const api = shared();
  await api.addPerson(name, "admin").catch(() => {});
  return api.call("POST /session", { as: null, body: { name, password: PASSWORD }, ...asked });
}

describe("a session", () => {
  test("is a cookie that no script reads, no other site sends, and, where it came by https, no plain request has", async () => {
    const api = shared();
    const plain = await logInAs("Mina");
    expect(plain.status).toBe(201);
    expect(plain.json).toMatchObject({ name: "Mina", role: "admin", sessionId: expect.stringMatching(/^ses_/) });
    expect(plain.headers["set-cookie"][0]).toMatch(/^topupd_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/);
    const headers = { "x-forwarded-proto": "https", "x-forwarded-for": "203.0.113.9" };
    for (const cookie of (await logInAs("Mina", { headers, from: PROXY })).headers["set-cookie"])
      expect(cookie).toMatch(/; Secure/);
    // Whoever is no proxy is not believed.
    const unbelieved = (await logInAs("Mina", { headers, from: "203.0.113.8" })).headers["set-cookie"];
    expect(String(unbelieved)).not.toMatch(/Secure/);
    const { items } = (await api.call("GET /session/all", { as: { session: await api.logIn("Mina") } })).json;
    const addresses: string[] = items.map(({ address }: { readonly address: string }) => address);
    expect(addresses.toSorted()).toEqual(["127.0.0.1", "127.0.0.1", "203.0.113.8", "203.0.113.9"]);
  });

  test("ends when it is logged out, ended from another one, or unused for 30 minutes", async () => {
    const api = shared();
    await api.addPerson("Hari", "viewer");
    const [one, other, third] = [await api.logIn("Hari"), await api.logIn("Hari"), await api.logIn("Hari")];
    const asks = async (session: string) => (await api.call("GET /partners", { as: { session } })).status;
    const { headers, status } = await api.call("DELETE /session", { as: { session: one } });
    expect([status, headers["set-cookie"]]).toEqual([
      204,
      expect.stringMatching(/^topupd_session=; .*Expires=Thu, 01 Jan/),
    ]);
    expect([await asks(one), await asks(other)]).toEqual([401, 200]);
    const { sessionId } = (await api.call("GET /session", { as: { session: third } })).json;
    expect((await api.call(`DELETE /session/all/${sessionId}`, { as: { session: other } })).status).toBe(204);
    expect(await asks(third)).toBe(401);
    api.service.now += 31 * MINUTE;
    expect(await asks(other)).toBe(401);
  });

  test("is not kept open by a page that reads again by itself", async () => {
    const api = shared();
    await api.addPerson("Lila", "viewer");
    const as = { session: await api.logIn("Lila") };
    const ask = async (headers: Record<string, string> = {}) =>
      (await api.call("GET /partners", { as, headers })).status;
    api.service.now += 29 * MINUTE;
    expect(await ask()).toBe(200);
    for (let times = 0; times < 2; times += 1) {
      api.service.now += 14 * MINUTE;
      expect(await ask({ "topupd-poll": "1" })).toBe(200);
    }
    api.service.now += 2 * MINUTE;
    expect(await ask({ "topupd-poll": "1" })).toBe(401);
  });

  test("is refused to who guesses, and after ten times from there for a while, as log and metrics say", async () => {
    const api = shared();
    const from = "::ffff:203.0.113.7";
    const [name, logged] = ["Gita", api.logs.length];
    await api.addPerson(name, "viewer");
    const guess = (password: string) => api.call("POST /session", { as: null, from, body: { name, password } });
    for (let times = 0; times < 10; times += 1)
      expect((await guess("wrong")).json).toMatchObject({ status: 401, code: "wrong_credentials" });
    const late = await guess(PASSWORD);
    expect([late.status, late.json.code]).toEqual([429, "too_many_attempts"]);
    expect(late.json.detail).toBe("Too many log-ins have failed. Try again in 15 minutes.");
    expect(Number(late.headers["retry-after"])).toBeGreaterThan(800);
    expect(late.headers["set-cookie"]).toBeUndefined();
    const lines = api.logs.slice(logged).map((line) => JSON.parse(line));
    const failures = lines.filter(({ msg }) => msg === "a log-in failed");
    expect(failures).toHaveLength(10);
    expect(failures[0]).toMatchObject({ level: "warn", staff: name, address: from });
    expect(counted).toEqual([...Array(10).fill("wrong_credentials"), "too_many_attempts"]);
  });

  test("is counted by the address before the port that a trusted proxy writes", async () => {
    const api = shared();
    await api.addPerson("Nima", "viewer");
    const guess = (address: string, password = "wrong") => {
      const headers = { "x-forwarded-for": address };
      return api.call("POST /session", { as: null, from: PROXY, headers, body: { name: "Nima", password } });
    };
    for (let times = 0; times < 10; times += 1)
      expect((await guess(`198.51.100.9:${50_000 + times}`)).status).toBe(401);
    expect((await guess("198.51.100.9:60000", PASSWORD)).status).toBe(429);
    expect((await guess("[2001:db8::9]:443", PASSWORD)).status).toBe(201);
    const { items } = (await api.call("GET /session/all", { as: { session: await api.logIn("Nima") } })).json;
    expect(items.map(({ address }: { readonly address: string }) => address)).toContain("2001:db8::9");
  });
});

test("a log-in is refused for some seconds while too many passwords are being checked", async () => {
  const accounts = { checkPassword: () => Promise.reject(new PasswordsBusy()) } as unknown as AccountTools;
  const api = await startStaffApi({ world: { accounts } });
  const answer = await api.call("POST /session", { as: null, body: { name: "Maya", password: PASSWORD } });
  expect([answer.status, answer.json.code, answer.headers["retry-after"]]).toEqual([429, "too_many_attempts", "5"]);
});

describe("a request by cookie", () => {
  test.each([
    ["of a page of this host", { origin: "http://console.example:8081" }, undefined],
    ["of no browser", {}, undefined],
    ["of this origin behind any proxy", { origin: "https://outer", "sec-fetch-site": "same-origin" }, undefined],
    ["of another site", { origin: "https://evil.example" }, "cross_site"],
    ["of another port of this host", { origin: "http://console.example" }, "cross_site"],
    ["of a page without an origin", { origin: "null" }, "cross_site"],
    ["of another site, as a browser says in another header", { "sec-fetch-site": "cross-site" }, "cross_site"],
    ["of another host of this domain", { "sec-fetch-site": "same-site" }, "cross_site"],
  ])("%s is let in or not", async (which, headers: Record<string, string>, code) => {
    await logInAs("Maya");
    const as = { session: await shared().logIn("Maya") };
    const asked = { as, body: { name: which }, headers: { host: "console.example:8081", ...headers } };
    const { status, json } = await shared().call("POST /partners", asked);
    expect([status, json.code]).toEqual([code === undefined ? 201 : 403, code]);
    const reading = await shared().call("GET /partners", { ...asked, body: undefined });
    expect(reading.status).toBe(code === undefined ? 200 : 403);
  });

  test("of the host that a trusted proxy names is let in", async () => {
    const headers = { host: "inner", origin: "https://console.example", "x-forwarded-host": "console.example" };
    expect((await logInAs("Maya", { headers, from: PROXY })).status).toBe(201);
    expect((await logInAs("Maya", { headers })).json.code).toBe("cross_site");
  });
});

test.each([
  ["CONSOLE.example:8081", 401],
  ["localhost:8081", 401],
  ["[::1]:8081", 401],
  ["192.168.1.4", 401],
  ["evil.example:8081", 421],
  ["console.example.evil.example", 421],
])("a browser's request to the host %s is answered with %i", async (host, status) => {
  const asked = { headers: { host } };
  expect((await shared().call("GET /session", { as: null, ...asked })).status).toBe(status);
  expect((await shared().call("GET /partners", asked)).status).toBe(200);
});

test("to another host, a request needs a key of the form that keys have, and nobody logs in", async () => {
  const send = async (asked: string, request: Asked) =>
    (await shared().call(asked, { ...request, headers: { host: "evil.example", ...request.headers } })).status;
  expect(await send("GET /partners", { as: "viewer" })).toBe(200);
  expect(await send("GET /partners", { as: null, headers: { authorization: "Bearer x" } })).toBe(421);
  expect(await send("POST /session", { body: { name: "Maya", password: PASSWORD } })).toBe(421);
});

test("a body that is nested too deep, or has a key twice, is refused as partners' are", async () => {
  const put = (body: string) => shared().call("PUT /customers/1", { as: "admin", body, headers: JSON_TYPE });
  const deep = await put(`{"cuid":${"[".repeat(30_000)}${"]".repeat(30_000)}}`);
  expect(deep.json).toMatchObject({ status: 422, detail: "The body is nested deeper than 16 levels." });
  const twice = await put('{"cuid":"1","cuid":"2"}');
  expect(twice.json).toMatchObject({ status: 422, detail: 'The body has the key "cuid" twice in one object.' });
});

test("a byte order mark before a body is skipped", async () => {
  const headers = { ...JSON_TYPE, "idempotency-key": "marked" };
  const added = await shared().call("POST /partners", { as: "admin", body: '\ufeff{"name":"marked"}', headers });
  expect([added.status, added.json.name]).toEqual([201, "marked"]);
});

test("a NUL character in an address is refused, whichever database would be asked", async () => {
  for (const path of ["/partners/a%00b", "/customers?cursor=%00"])
    expect((await shared().call(`GET ${path}`, { as: "admin" })).json).toMatchObject({ status: 422, code: "invalid" });
});

describe("an Idempotency-Key", () => {
  const add = (name: string, key: string, as: Asked["as"] = "admin") =>
    shared().call("POST /partners", { as, body: { name }, headers: { "idempotency-key": key } });

  test("has a request answered again and not done again, for who sent it", async () => {
    const first = await add("Bank", "order 1");
    const again = await add("Bank", "order 1");
    expect([first.status, again.status, again.json]).toEqual([201, 201, first.json]);
    expect([first, again].map((each) => each.headers["idempotent-replayed"])).toEqual([undefined, "true"]);
    expect((await add("Other", "order 1")).json).toMatchObject({ status: 422, code: "key_reused" });
    await logInAs("Mina");
    expect((await add("Other", "order 1", { session: await shared().logIn("Mina") })).status).toBe(201);
    // What was refused stays refused, in the same words.
    const refused = await add("Bank", "order 2");
    expect(refused).toMatchObject({ status: 409, json: { code: "conflict" } });
    const still = await add("Bank", "order 2");
    expect([still.status, still.json, still.headers["content-type"]]).toEqual([
      ...[409, refused.json, refused.headers["content-type"]],
    ]);
  });

  test("of a key that was removed answers nothing to a later key of the same name", async () => {
    const { service, call } = shared();
    const desk = deskOf(service.ports);
    const ask = async () => {
      const { key } = await run(desk, addStaffKey, { name: "billing", role: "admin" });
      const headers = { authorization: `Bearer ${key}`, "idempotency-key": "sale 1" };
      const answer = await call("POST /partners", { as: null, body: { name: "Cash Desk" }, headers });
      await run(desk, removeStaffKey, { name: "billing" });
      return answer;
    };
    expect((await ask()).status).toBe(201);
    expect((await ask()).json).toMatchObject({ status: 409, code: "conflict" });
  });

  test("is kept a thousand times a day for a person, and then refused, while those on record are answered", async () => {
    const api = shared();
    await api.addPerson("Bina", "viewer");
    const as = { session: await api.logIn("Bina") };
    const { id } = (await findStaff(api.service.store.engine.db, "Bina")) as StaffMember;
    const { store, now } = api.service;
    for (let key = 0; key < 999; key += 1) {
      const asked = { hash: hashSecret(`${key}`), owner: `person ${id}`, request: hashSecret(""), at: now };
      await beginAnswer(store.engine, asked, 1_000);
    }
    const end = (key: string) => api.call("DELETE /session/all/none", { as, headers: { "idempotency-key": key } });
    expect((await end("the last")).json.code).toBe("not_found");
    expect((await end("one more")).json).toMatchObject({ status: 429, code: "too_many_keys" });
    const again = await end("the last");
    expect([again.json.code, again.headers["idempotent-replayed"]]).toEqual(["not_found", "true"]);
  });

  test("keeps no secret, and forgets after a day", async () => {
    const api = shared();
    const headers = { "idempotency-key": "token" };
    const issue = () => api.call("POST /partners/wallet/tokens", { body: {}, headers });
    const issued = await issue();
    expect(issued).toMatchObject({ status: 201, json: { token: expect.stringMatching(/^topup_live_/) } });
    expect((await issue()).json.code).toBe("already_answered");
    api.service.now += 25 * 60 * MINUTE;
    expect((await issue()).json.id).not.toBe(issued.json.id);
  });

  test.each<readonly [string, object | string, number]>([
    ["/audit/verification", {}, 200],
    ["/reconciliations?partner=nobody&from=2026-11-01&to=2026-11-02", "checkoutId,amount", 422],
  ])("is ignored by %s, which changes nothing", async (path, body, status) => {
    const headers = { "idempotency-key": path, ...(typeof body === "string" && { "content-type": "text/csv" }) };
    const ask = () => shared().call(`POST ${path}`, { body, headers });
    expect((await ask()).status).toBe(status);
    const again = await ask();
    expect([again.status, again.headers["idempotent-replayed"]]).toEqual([status, undefined]);
  });

  test("tells that nobody knows, where the first request was cut off", async () => {
    trouble.addingPartners = true;
    const cut = await add("Late Bank", "order 3");
    trouble.addingPartners = false;
    expect([cut.status, cut.json.code, cut.headers["retry-after"]]).toEqual([503, "unavailable", "1"]);
    expect((await add("Late Bank", "order 3")).json).toMatchObject({ status: 409, code: "answer_unknown" });
  });

  test("must be of printable characters", async () => {
    const { json } = await add("Bank", "x".repeat(201));
    expect(json).toMatchObject({ code: "invalid", fields: [{ field: "Idempotency-Key" }] });
  });
});

test("an answer of more than 64 KiB is not kept for its Idempotency-Key, but that there was one", async () => {
  const api = await startStaffApi();
  const headers = { "idempotency-key": "bad", ...NDJSON_TYPE };
  const send = () => api.call("POST /catalogue", { body: '{"service":"dsl"}\n'.repeat(1_500), headers });
  expect(await send()).toMatchObject({ status: 422, json: { code: "invalid" } });
  expect((await send()).json).toMatchObject({ status: 409, code: "already_answered" });
});

const FILE = { headers: NDJSON_TYPE };
const BOOK = "POST /reconciliations?partner=wallet&from=2026-11-20&to=2026-11-20";
/** Bad requests, with the status, the code and the field of each problem. */
const BAD: [asked: string, request: Asked, status: number, code: string, field?: object][] = [
  ["GET /nothing", {}, 404, "not_found"],
  ["PUT /partners", {}, 404, "not_found"],
  ["GET /partners?colour=red", {}, 422, "invalid", field("colour", "is not known")],
  ["GET /audit?limit=many", {}, 422, "invalid", field("limit", "must be integer")],
  ["GET /audit?cursor=x", {}, 422, "invalid", field("cursor", "must be the cursor of a page")],
  ["GET /audit?from=2026-02-30", {}, 422, "invalid", field("from", "must be a day such as 2026-11-20")],
  ["POST /partners", {}, 422, "invalid", field("name", "is required")],
  ["POST /partners", { body: { name: 7 } }, 422, "invalid", field("name", "must be string")],
  ["POST /partners", { body: { name: "B", nme: "" } }, 422, "invalid", field("nme", "is not known")],
  ["POST /partners", { body: '{"name":', headers: JSON_TYPE }, 422, "invalid"],
  ["POST /partners", { body: "name=Bank", headers: { "content-type": "text/plain" } }, 422, "invalid"],
  ["POST /partners", { body: `{"name":"${"x".repeat(65_536)}"}`, headers: JSON_TYPE }, 413, "too_large"],
  ["POST /catalogue", {}, 422, "invalid"],
  ["POST /catalogue", { ...FILE, body: "x".repeat(1_001) }, 413, "too_large"],
  [BOOK, { ...FILE, body: "1\n".repeat(6) }, 413, "too_large"],
];

test.each(BAD)("the bad request %s with %j says what is wrong", async (asked, request, status, code, wrong) => {
  const { headers, json: body, ...answer } = await shared().call(asked, request);
  expect(answer.status).toBe(status);
  expect(headers["content-type"]).toBe("application/problem+json; charset=utf-8");
  expect(body).toMatchObject({ type: `urn:topupd:problem:${code}`, status, code, title: expect.any(String) });
  expect(body.fields).toEqual(wrong && [wrong]);
});

test("a defect is told of without its contents, in the answer and in the log", async () => {
  const { logs, call } = shared();
  const from = logs.length;
  trouble.pinging = true;
  const { status, text } = await call("GET /health");
  trouble.pinging = false;
  expect([status, JSON.parse(text).code]).toEqual([500, "internal_error"]);
  const [line] = logs.slice(from).filter((each) => each.includes(`"error"`));
  expect(JSON.parse(line ?? "")).toMatchObject({ err: { type: "Error" }, route: "/api/v1/health" });
  expect(text + logs.slice(from).join("")).not.toMatch(/Sita|98000/);
});

test("health tells of top-ups that cannot be recorded, and of a clock that was set back", async () => {
  const figures = {
    minutes: 5,
    topUpsAMinute: 6,
    callsAMinute: 0,
    refused: 0,
    answers: [],
    refusals: [],
    processes: [],
    restarts: 0,
    allRestarts: 0,
  };
  const state = {
    recordingFailsSince: Date.UTC(2026, 10, 20, 9),
    clockSetBackFrom: Date.UTC(2026, 10, 20, 12),
    figures,
  };
  const { json } = await (await startStaffApi({ world: { state } })).call("GET /health");
  expect(json).toMatchObject({
    ...{
      database: "ok",
      recordingFailsSince: "2026-11-20T09:00:00.000Z",
      clockSetBackFrom: "2026-11-20T12:00:00.000Z",
      figures,
      space: { database: expect.any(Number), log: expect.any(Number), free: expect.any(Number) },
      ...{ lastCheckAt: null, lastImport: null, timeZone: "UTC" },
    },
  });
});

test("the log has a line for each request, with who asked, and nothing of the query", async () => {
  const { logs, call } = shared();
  await call("GET /audit?author=Sita", { as: "viewer" });
  expect(JSON.parse(logs.at(-1) ?? "")).toEqual({
    ...{ level: "info", time: expect.any(String), method: "GET", route: "/api/v1/audit", status: 200 },
    ...{ staff: "key viewer", ms: expect.any(Number), msg: "request of staff" },
  });
});

test("the log has one line for a flood of requests without a log-in, with the reason", async () => {
  const { logs, call } = await startStaffApi();
  for (let index = 0; index < 20; index += 1)
    await call("GET /partners", { as: null, headers: { cookie: `${COOKIE}=nothing` } });
  expect(logs.map((line) => JSON.parse(line))).toMatchObject([{ status: 401, outcome: "not_logged_in" }]);
});

test("a log-in has its line, and the API's description none", async () => {
  const api = await startStaffApi();
  await api.addPerson("Mina", "viewer");
  expect((await api.call("GET /openapi.json", { as: null })).status).toBe(200);
  await api.logIn("Mina");
  await api.logIn("Mina");
  const lines = api.logs.map((line) => JSON.parse(line));
  expect(lines.map(({ route, status }) => [route, status])).toEqual(Array(2).fill(["/api/v1/session", 201]));
});

test("a file is there while its request is answered, and is gone then", async () => {
  const { call } = shared();
  const row = `${JSON.stringify({ service: "tv", code: "A", name: "TV (MONTHLY)", price: 450 })}\n`;
  const asked = "POST /catalogue?environment=production";
  const preview = await call(`${asked}&preview=true`, { body: row, headers: NDJSON_TYPE });
  expect(preview).toMatchObject({ status: 200, json: { revision: null, added: 1, bouquets: [{ kind: "added" }] } });
  const csv = "service,code,name,price\ntv,A,TV (MONTHLY),450\n";
  const published = await call(`${asked}&name=c.csv`, { body: csv, headers: NDJSON_TYPE });
  expect(published.json).toMatchObject({ revision: 2, accepted: 1 });
  await vi.waitFor(() => expect(onDisk.size).toBe(0));
});

test("a file with as many bytes or lines as allowed is read", async () => {
  const read = async (path: string, body: string) =>
    (await shared().call(path, { body, headers: NDJSON_TYPE })).json.status;
  // What is read is no catalogue and no book.
  expect([await read("POST /catalogue", "x".repeat(1_000)), await read(BOOK, "1\n".repeat(5))]).toEqual([422, 422]);
});

describe("files of one person", () => {
  const row = { cuid: "1", first_name: "Sita", last_name: "Rai", status: "active", connections: {} };
  const send = (name: string) =>
    shared().call(`POST /imports?environment=production&name=${name}.ndjson`, {
      ...{ body: JSON.stringify(row), headers: NDJSON_TYPE },
    });

  test("are two at most: the oldest that is not under way is deleted for the next", async () => {
    for (let index = 0; index < 14; index += 1) {
      const { status, json } = await send(String(index));
      expect(status).toBe(202);
      await expect.poll(async () => (await shared().call(`GET /imports/${json.id}`)).json.state).toBe("checked");
      expect(onDisk.size).toBe(Math.min(index + 1, 2));
    }
  });

  test("are refused while two are under way", async () => {
    let open = () => {};
    gate.isOpen = new Promise((resolve) => {
      open = resolve;
    });
    const underWay = [send("a"), send("b")];
    const before = [...onDisk];
    await expect.poll(() => [...onDisk].filter((file) => !before.includes(file)).length).toBe(2);
    const third = await send("c");
    expect([third.status, third.json.code]).toEqual([409, "conflict"]);
    expect(onDisk.size).toBe(2);
    open();
    expect((await Promise.all(underWay)).map(({ status }) => status)).toEqual([202, 202]);
  });
});
