import { once } from "node:events";
import { connect } from "node:net";
import { PassThrough, Readable } from "node:stream";
import type { InjectOptions } from "fastify";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { listEntries } from "../../src/office/audit/sql.ts";
import { endSession, findStaff, listSessions } from "../../src/office/session/sql.ts";
import { removeStaffKey } from "../../src/office/staff/keys.ts";
import { changeStaff, removeStaff } from "../../src/office/staff/operations.ts";
import { readKeys } from "../../src/office/staff/sql.ts";
import type { Store } from "../../src/store/store.ts";
import { deskOf, run } from "../support/desk.ts";
import { COOKIE, PASSWORD, type StaffApi, shareStaffApi, startStaffApi } from "../support/staff-api.ts";
import { VirtualTime } from "../support/virtual-time.ts";

const shared = shareStaffApi();

afterEach(() => {
  vi.useRealTimers();
});

/** Sends a body, the end of which arrives only after `meanwhile`. */
function sendSlowly(
  { app }: StaffApi,
  headers: Record<string, string>,
  { path, body }: { readonly path: string; readonly body: string },
  meanwhile: () => Promise<unknown>,
) {
  async function* pieces() {
    yield body.slice(0, 1);
    await meanwhile();
    yield body.slice(1);
  }
  const type = path.startsWith("/imports") ? "application/x-ndjson" : "application/json";
  const sent = { method: "POST", url: `/api/v1${path}`, payload: Readable.from(pieces()) } as const;
  return app.inject({ ...sent, headers: { "content-type": type, ...headers } } satisfies InjectOptions);
}

describe("who loses a right while a slow body arrives", () => {
  const key = { path: "/staff-keys", body: JSON.stringify({ name: "lasting", role: "admin", ownPassword: PASSWORD }) };

  async function cookieOf(name: string) {
    for (const each of ["the last admin", name])
      await shared()
        .addPerson(each, "admin")
        .catch(() => {});
    return { cookie: `${COOKIE}=${await shared().logIn(name)}` };
  }

  const ended = [401, "not_logged_in"] as const;
  test.each<[what: string, refusal: readonly unknown[], end: (api: StaffApi, name: string) => Promise<unknown>]>([
    // There is no password any more by which the own one could be checked.
    ["is removed", [403, "wrong_password"], ({ service }, name) => run(deskOf(service.ports), removeStaff, { name })],
    [
      "has another role",
      ended,
      ({ service }, name) => run(deskOf(service.ports), changeStaff, { name, role: "viewer" }),
    ],
    [
      "logs out elsewhere",
      ended,
      async (api, name) => endSession(api.service.store.engine, ...(await sessionOf(api, name))),
    ],
  ])("and %s makes no key", async (what, refusal, end) => {
    const api = shared();
    const headers = await cookieOf(what);
    const answer = await sendSlowly(api, headers, key, () => end(api, what));
    expect([answer.statusCode, answer.json().code]).toEqual(refusal);
    expect((await readKeys(api.service.store.engine.db)).map(({ name }) => name)).not.toContain("lasting");
  });

  async function sessionOf({ service }: StaffApi, name: string): Promise<[staffId: number, id: string]> {
    const staffId = (await findStaff(service.store.engine.db, name))?.id ?? 0;
    return [staffId, (await listSessions(service.store.engine.db, staffId))[0]?.id ?? ""];
  }

  const customer = '{"cuid":"3000001","first_name":"A","last_name":"B","status":"active","connections":{}}\n';
  test.each([
    { path: "/partners", body: '{"name":"Late"}', status: 401 },
    // The file is read, and the import fails.
    { path: "/imports?run=true", body: customer, status: 202 },
  ])("by a key that is removed changes nothing at $path", async ({ status, ...request }) => {
    const api = await startStaffApi();
    const { service, keys } = api;
    const headers = { authorization: `Bearer ${keys.admin}` };
    const end = () => run(deskOf(service.ports), removeStaffKey, { name: "admin" });
    const answer = await sendSlowly(api, headers, request, end);
    expect(answer.statusCode).toBe(status);
    if (status === 202) {
      const upload = () => api.call(`GET /imports/${answer.json().id}`, { as: "viewer" });
      await vi.waitFor(async () => expect((await upload()).json.state).toBe("failed"), { timeout: 10_000 });
    }
    const [last] = await listEntries(service.store.engine.db, {}, 1);
    expect(last?.action).toBe("staff_key.remove");
  });
});

test("a JSON body that takes longer than ten seconds is refused", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const { app, keys } = shared();
  const headers = { "content-type": "application/json", authorization: `Bearer ${keys.admin}` };
  const payload = new PassThrough();
  payload.write("{");
  const answered = app.inject({ method: "POST", url: "/api/v1/partners", headers, payload });
  await vi.waitFor(() => expect(vi.getTimerCount()).toBeGreaterThan(0), { interval: 1 });
  await vi.advanceTimersByTimeAsync(10_000);
  const answer = await answered;
  expect([answer.statusCode, answer.json().code, answer.headers.connection]).toEqual([408, "too_slow", "close"]);
});

test("a request is cut off once its session ends, others go on, and nobody asks for an idle socket", async () => {
  const asked: string[] = [];
  let answered = Promise.resolve();
  const wrapStore = (store: Store): Store => {
    const looks = new WeakSet<object>();
    const db = store.engine.db.withPlugin({
      transformQuery({ node, queryId }) {
        const query = JSON.stringify(node);
        // Only rights are looked up in both tables with one statement.
        if (query.includes('"name":"staff"') && query.includes('"name":"staff_session"')) {
          asked.push(query);
          looks.add(queryId);
        }
        return node;
      },
      async transformResult({ result, queryId }) {
        if (looks.has(queryId)) await answered;
        return result;
      },
    });
    return { ...store, engine: { ...store.engine, db } };
  };
  const time = new VirtualTime(0);
  const api = await startStaffApi({ wrapStore, world: { sleep: time.sleep } });
  await api.app.listen({ host: "127.0.0.1", port: 0 });
  const { port } = api.app.server.address() as { port: number };
  const send = async (name: string, request: string, body: string) => {
    const socket = connect(port, "127.0.0.1");
    onTestFinished(() => void socket.destroy());
    const cookie = `${COOKIE}=${await api.logIn(name)}`;
    socket.write(`${request} HTTP/1.1\r\nHost: localhost\r\nCookie: ${cookie}\r\n${body}`);
    return socket;
  };
  for (const name of ["Mina", "Hari"]) await api.addPerson(name, "admin");
  const idle = await send("Mina", "GET /api/v1/session", "\r\n");
  await once(idle, "data");
  await time.pass(5_000);
  expect(asked).toEqual([]);
  const half = "Content-Type: application/json\r\nContent-Length: 99\r\n\r\n{";
  const [mina, hari] = [
    await send("Mina", "POST /api/v1/partners", half),
    await send("Hari", "POST /api/v1/partners", half),
  ];
  const lookedAtBoth = async () => {
    await time.pass(1_000);
    expect(new Set(asked).size).toBe(2);
  };
  await vi.waitFor(lookedAtBoth, { timeout: 10_000 });

  // A database that is slow is asked once, and not once a second.
  let answer = () => {};
  answered = new Promise((resolve) => {
    answer = resolve;
  });
  asked.length = 0;
  await time.pass(10_000);
  expect(asked.length).toBeLessThanOrEqual(1);
  await run(deskOf(api.service.ports), removeStaff, { name: "Mina" });
  answer();
  const isCutOff = async () => {
    await time.pass(1_000);
    expect(mina.closed).toBe(true);
  };
  await vi.waitFor(isCutOff, { timeout: 10_000 });
  expect([hari.closed, idle.closed]).toEqual([false, false]);
});

describe("a stolen session", () => {
  test.each([
    ["POST /staff", { name: "Thief", role: "admin", password: "yellow 9 lamp on the roof" }],
    ["PATCH /staff/viewer", { role: "admin" }],
    ["PATCH /staff/viewer", { password: "yellow 9 lamp on the roof" }],
    ["PATCH /staff/viewer", { totp: false }],
    ["DELETE /staff/viewer", {}],
    ["POST /staff-keys", { name: "thief", role: "admin" }],
    ["DELETE /staff-keys/viewer", {}],
    ["PUT /session/password", { password: "yellow 9 lamp on the roof" }],
    ["POST /session/totp", {}],
    ["DELETE /session/totp", {}],
  ])("gets nothing lasting by %s without the password", async (asked, body) => {
    const api = shared();
    await api.addPerson("Owner", "admin").catch(() => {});
    await api.addPerson("viewer", "viewer").catch(() => {});
    const as = { session: await api.logIn("Owner") };
    const trail = async () => (await api.call("GET /audit?limit=1", { as })).text;
    const before = await trail();
    const missing = await api.call(asked, { as, body });
    expect(missing.json).toMatchObject({ code: "invalid", fields: [{ field: "ownPassword", problem: "is required" }] });
    const wrong = await api.call(asked, { as, body: { ...body, ownPassword: "a guess of mine" } });
    const fields = [{ field: "ownPassword", problem: "is not your password" }];
    expect(wrong.json).toMatchObject({ status: 403, code: "wrong_password", fields });
    expect((await api.call(asked, { as: "admin", body: { ...body, ownPassword: PASSWORD } })).json.code).toBe(
      "sessions_only",
    );
    expect(await trail()).toBe(before);
    api.service.now += 15 * 60_000;
  });

  test("is locked out with its owner's name after ten guesses", async () => {
    const api = shared();
    await api.addPerson("Guessed", "admin");
    const as = { session: await api.logIn("Guessed") };
    const guess = (ownPassword: string) => api.call("DELETE /session/totp", { as, body: { ownPassword } });
    for (let times = 0; times < 10; times += 1) expect((await guess("a guess")).status).toBe(403);
    expect((await guess(PASSWORD)).json).toMatchObject({ status: 429, code: "too_many_attempts" });
  });
});
