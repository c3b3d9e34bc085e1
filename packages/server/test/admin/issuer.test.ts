import type { ServerResponse } from "node:http";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { readEntries } from "../../src/office/audit/sql.ts";
import { addStaffKey } from "../../src/office/staff/keys.ts";
import { readStaff } from "../../src/office/staff/sql.ts";
import { type OidcSettings, oidcIssuer } from "../../src/system/oidc.ts";
import { deskOf, run } from "../support/desk.ts";
import { startLooseIssuer } from "../support/loose-issuer.ts";
import { type Browsing, CLIENT, CLIENT_SECRET, startIssuer, type TestIssuer } from "../support/oidc-issuer.ts";
import {
  PASSWORD,
  type StaffAnswer,
  type StaffApi,
  type StaffApiOptions,
  startStaffApi,
} from "../support/staff-api.ts";

const CONSOLE = "https://console.example";
const BACK = `${CONSOLE}/api/v1/session/oidc/callback`;
const PROXY = "127.0.0.1";
const MINUTE = 60_000;

let issuer: TestIssuer;

beforeAll(async () => {
  issuer = await startIssuer([BACK, "http://localhost/api/v1/session/oidc/callback"]);
  const profiles = { maya: "admin", ravi: ["staff", "viewer", "finance"], nobody: "owner" };
  for (const [name, role] of Object.entries(profiles))
    issuer.accounts.set(name, { preferred_username: name, topupd_role: role });
});
afterAll(() => issuer.stop());

/** The service, its clock being that of the issuer. */
async function start(options: StaffApiOptions & Partial<OidcSettings> & { readonly timeout?: number } = {}) {
  const {
    issuer: url = issuer.url,
    secret = CLIENT_SECRET,
    roleClaim = "topupd_role",
    timeout,
    world,
    ...more
  } = options;
  const api = await startStaffApi({
    consoleNames: new Set(["console.example"]),
    trustedProxies: { has: (address: string) => address === PROXY } as never,
    world: { issuer: oidcIssuer({ issuer: url, client: CLIENT, secret, roleClaim }, timeout), ...world },
    ...more,
  });
  api.service.now = Date.now();
  return api;
}

/** The cookie of a log-in under way. */
const JOURNEY = "__Host-topupd_oidc";
const HEADERS = { host: "console.example", "x-forwarded-proto": "https" };
const cookieOf = ({ headers }: StaffAnswer, name: string) =>
  new RegExp(`${name}=([^;]*)`).exec(String(headers["set-cookie"]))?.[1] ?? "";

/** A log-in under way: where the issuer would send the browser, and its cookie. */
async function go(
  api: StaffApi,
  subject: string,
  { query = "", browser }: { query?: string; browser?: Browsing } = {},
) {
  const left = await api.call(`GET /session/oidc${query}`, { as: null, headers: HEADERS });
  expect(left.status).toBe(302);
  const came = await issuer.visit(left.headers["location"], subject, browser);
  return { came, journey: cookieOf(left, JOURNEY) };
}

function comeBack(api: StaffApi, { came, journey }: { readonly came: string; readonly journey: string }, device = "") {
  const { pathname, search } = new URL(came);
  // The browser says that the page of another site sent it.
  const headers = { ...HEADERS, cookie: `${JOURNEY}=${journey}; ${device}`, "sec-fetch-site": "cross-site" };
  return api.call(`GET ${pathname}${search}`, { as: null, headers });
}

async function logIn(api: StaffApi, subject: string, options?: Parameters<typeof go>[2]) {
  const answer = await comeBack(api, await go(api, subject, options));
  return { answer, session: cookieOf(answer, "topupd_session") };
}

const actionsOf = async ({ service }: StaffApi) =>
  (await readEntries(service.store.engine.db, 0, 100))
    .filter(({ action }) => /^staff\./.test(action))
    .map(({ author, action, subject, reason, after }) => [author, action, subject, reason, after]);

const problemOf = ({ status, headers }: StaffAnswer) => [status, headers["location"], headers["set-cookie"]];
const failed = (problem: string, page = "/?") => [
  302,
  `${CONSOLE}${page}logInProblem=${problem}`,
  expect.not.stringContaining("topupd_session"),
];

describe("a log-in with the issuer", () => {
  test("opens an ordinary session, adds the account once, and returns to the page", async () => {
    const api = await start({ world: { totpRoles: new Set(["admin"]) } });
    const { answer, session } = await logIn(api, "maya", { query: "?to=/customers%3Ftext=rai" });
    expect([answer.status, answer.headers["location"]]).toEqual([302, `${CONSOLE}/customers?text=rai`]);
    const cookies = answer.headers["set-cookie"] as string[];
    expect(cookies.find((cookie) => cookie.startsWith("topupd_session"))).toMatch(
      /^topupd_session=[\w-]{43}; Path=\/; HttpOnly; Secure; SameSite=Strict$/,
    );
    expect(cookies.find((cookie) => cookie.startsWith(`${JOURNEY}=;`))).toMatch(/Expires=Thu, 01 Jan 1970/);
    const me = await api.call("GET /session", { as: { session } });
    expect(me.json).toMatchObject({ name: "maya", role: "admin", logsInWith: "oidc", mustSetUp: null });
    expect((await api.call("GET /staff", { as: { session } })).json.items).toMatchObject([
      { name: "maya", role: "admin", logsInWith: "oidc", lastLogInAt: new Date(api.service.now).toISOString() },
    ]);
    await logIn(api, "maya");
    const reason = `log-in with ${new URL(issuer.url).host}`;
    expect(await actionsOf(api)).toEqual([["maya", "staff.add", "maya", reason, '{"role":"admin"}']]);
    const line = api.logs.map((each) => JSON.parse(each)).find(({ route }) => route?.endsWith("/callback"));
    expect(line).toMatchObject({ method: "GET", status: 302, staff: "maya" });
  });

  test("sends the browser with PKCE, state and nonce, and keeps their secrets from scripts", async () => {
    const api = await start();
    const { headers } = await api.call("GET /session/oidc", { as: null, headers: HEADERS });
    const asked = new URL(headers["location"]);
    expect(Object.fromEntries(asked.searchParams)).toEqual({
      ...{ client_id: CLIENT, redirect_uri: BACK, response_type: "code", scope: "openid profile email" },
      max_age: "43200",
      ...{ code_challenge_method: "S256", code_challenge: expect.stringMatching(/^[\w-]{43}$/) },
      ...{ state: expect.stringMatching(/^[\w-]{43}$/), nonce: expect.stringMatching(/^[\w-]{43}$/) },
    });
    expect(headers["set-cookie"]).toMatch(
      /^__Host-topupd_oidc=[\w-]+\.[\w%]+; Max-Age=600; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
    );
    const plain = await api.call("GET /session/oidc", { as: null, headers: { host: "localhost" }, from: "127.0.0.2" });
    expect(new URL(plain.headers["location"]).searchParams.get("redirect_uri")).toMatch(/^http:\/\/localhost\/api/);
    expect(plain.headers["set-cookie"]).toMatch(/^topupd_oidc=(?!.*Secure)/);
    const stranger = await api.call("GET /session/oidc", { as: null, headers: { host: "evil.example" } });
    expect([stranger.status, stranger.json.code]).toEqual([421, "unknown_host"]);
  });

  test.each([
    "//evil.example/x",
    "https://evil.example",
    "/.//evil.example",
    "\\\\evil.example",
    "javascript:alert(1)",
  ])("returns to no other site, such as %s", async (to) => {
    const api = await start();
    const { answer } = await logIn(api, "maya", { query: `?to=${encodeURIComponent(to)}` });
    expect(new URL(answer.headers["location"]).origin).toBe(CONSOLE);
  });

  test("follows the role that the issuer states, the highest of a list, and ends the sessions of another", async () => {
    const api = await start();
    const { session } = await logIn(api, "ravi");
    expect((await api.call("GET /session", { as: { session } })).json.role).toBe("finance");
    const { topupd_role: before, ...profile } = issuer.accounts.get("ravi") ?? {};
    onTestFinished(() => void issuer.accounts.set("ravi", { ...profile, topupd_role: before }));
    issuer.accounts.set("ravi", { ...profile, topupd_role: "support" });
    const { session: later } = await logIn(api, "ravi");
    expect((await api.call("GET /session", { as: { session } })).status).toBe(401);
    expect((await api.call("GET /session", { as: { session: later } })).json.role).toBe("support");
    expect((await actionsOf(api)).at(-1)?.slice(0, 3)).toEqual(["ravi", "staff.role", "ravi"]);
  });

  test("without a role ends the sessions of who has one, until the issuer states a role again", async () => {
    const api = await start();
    const { session } = await logIn(api, "ravi");
    const { topupd_role: role, ...profile } = issuer.accounts.get("ravi") ?? {};
    onTestFinished(() => void issuer.accounts.set("ravi", { ...profile, topupd_role: role }));
    issuer.accounts.set("ravi", profile);
    expect(problemOf((await logIn(api, "ravi")).answer)).toEqual(failed("no_role"));
    expect((await api.call("GET /session", { as: { session } })).status).toBe(401);
    expect((await api.call("GET /staff", { as: { session: (await logIn(api, "maya")).session } })).json.items).toEqual([
      expect.objectContaining({ name: "maya", role: "admin" }),
      expect.objectContaining({ name: "ravi", role: null }),
    ]);
    issuer.accounts.set("ravi", { ...profile, topupd_role: role });
    expect((await api.call("GET /session", { as: { session: (await logIn(api, "ravi")).session } })).json.role).toBe(
      "finance",
    );
    expect((await actionsOf(api)).filter(([author]) => author === "ravi").map((entry) => entry.at(-1))).toEqual([
      '{"role":"finance"}',
      '{"role":null}',
      '{"role":"finance"}',
    ]);
  });

  test("takes the rights of the person's keys with the role", async () => {
    const api = await start();
    issuer.accounts.set("gita", { preferred_username: "gita", topupd_role: "admin" });
    await logIn(api, "gita");
    const gita = (await readStaff(api.service.store.engine.db)).find(({ name }) => name === "gita");
    const authority = { staffId: gita?.id ?? 0, role: "admin", sessionId: undefined } as const;
    const desk = deskOf(api.service.ports, { name: "gita", authority });
    const { key } = await run(desk, addStaffKey, { name: "billing", role: "admin" });
    const addPartner = (name: string) =>
      api.call("POST /partners", { as: null, headers: { authorization: `Bearer ${key}` }, body: { name } });
    expect((await addPartner("First")).status).toBe(201);
    issuer.accounts.set("gita", { preferred_username: "gita" });
    await logIn(api, "gita");
    expect((await addPartner("Second")).status).toBe(401);
    issuer.accounts.set("gita", { preferred_username: "gita", topupd_role: "viewer" });
    await logIn(api, "gita");
    expect((await addPartner("Second")).status).toBe(403);
  });

  test("is refused without a role, and with a name that is taken or that nobody can have", async () => {
    const api = await start();
    const { answer } = await logIn(api, "nobody", { query: "?to=/customers%3Ftext=rai" });
    expect(problemOf(answer)).toEqual(failed("no_role", "/customers?text=rai&"));
    await api.addPerson("maya", "viewer");
    expect(problemOf((await logIn(api, "maya")).answer)).toEqual(failed("name_taken"));
    issuer.accounts.set("empty", { preferred_username: "\u200b", topupd_role: "admin" });
    expect(problemOf((await logIn(api, "empty")).answer)).toEqual(failed("no_name"));
    issuer.accounts.set("mail", { email: "key  gita@provider.example", topupd_role: "viewer" });
    const { session } = await logIn(api, "mail");
    expect((await api.call("GET /session", { as: { session } })).json.name).toBe("gita@provider.example");
  });

  test("is refused with a wrong state or nonce, a code that was used, and after ten minutes", async () => {
    const api = await start();
    const attempt = await go(api, "maya");
    const [sealed = "", seal] = attempt.journey.split(".");
    const stated = Buffer.from(sealed, "base64url").toString();
    const altered = { ...JSON.parse(stated), maxAgeMs: 1e15 };
    const refused = failed("failed");
    for (const text of ["null", "[]", "{", "", stated, JSON.stringify(altered)]) {
      const forged = Buffer.from(text).toString("base64url");
      for (const journey of [forged, `${forged}.`, ...(text === stated ? [] : [`${forged}.${seal}`])])
        expect(problemOf(await comeBack(api, { ...attempt, journey }))).toEqual(refused);
    }
    const wrongState = { ...attempt, came: attempt.came.replace(/state=\w/, "state=") };
    expect(problemOf(await comeBack(api, wrongState))).toEqual(refused);
    const begun = api.service.now;
    api.service.now += 10 * MINUTE + 1;
    expect(problemOf(await comeBack(api, attempt))).toEqual(refused);
    api.service.now = begun;

    const good = await go(api, "maya");
    expect((await comeBack(api, good)).headers["location"]).toBe(`${CONSOLE}/`);
    expect(problemOf(await comeBack(api, good))).toEqual(refused);
    const causes = api.logs
      .map((line) => JSON.parse(line))
      .flatMap(({ cause }) => (cause === undefined ? [] : [cause]));
    expect(causes).toEqual([expect.stringContaining("invalid response"), expect.stringContaining("invalid_grant")]);
    const secrets = [good, attempt].flatMap(({ came, journey }) => [
      ...[...new URL(came).searchParams.values()].filter((value) => !value.startsWith("http")),
      ...Object.values(JSON.parse(Buffer.from(journey.split(".")[0] ?? "", "base64url").toString())).filter(
        (each) => String(each).length > 40,
      ),
    ]);
    expect(secrets.length).toBeGreaterThan(6);
    for (const secret of [...secrets, CLIENT_SECRET]) expect(api.logs.join("")).not.toContain(secret);
  });

  test("says that the issuer is unavailable, before and after its page, and is fine once it is back", async () => {
    const own = await startIssuer([BACK]);
    own.accounts.set("maya", { preferred_username: "maya", topupd_role: "admin" });
    const api = await start({ issuer: own.url });
    const left = await api.call("GET /session/oidc", { as: null, headers: HEADERS });
    const came = await own.visit(left.headers["location"], "maya");
    await own.stop();
    expect(problemOf(await comeBack(api, { came, journey: cookieOf(left, JOURNEY) }))).toEqual(failed("unavailable"));
    const other = await start({ issuer: own.url });
    const early = await other.call("GET /session/oidc", { as: null, headers: HEADERS });
    expect([early.status, early.headers["location"]]).toEqual([302, `${CONSOLE}/?logInProblem=unavailable`]);
    const back = await startIssuer([BACK], Number(new URL(own.url).port));
    onTestFinished(() => back.stop());
    const later = await other.call("GET /session/oidc", { as: null, headers: HEADERS });
    expect(new URL(later.headers["location"]).origin).toBe(own.url);
  });

  test("fails with a wrong client secret, which the log tells the operator", async () => {
    const api = await start({ secret: "wrong" });
    expect(problemOf((await logIn(api, "maya")).answer)).toEqual(failed("failed"));
    const causes = api.logs.map((line) => JSON.parse(line)).map(({ cause }) => cause);
    expect(causes.filter(Boolean)).toEqual([expect.stringContaining("invalid_client")]);
  });
});

/** A service with an issuer that states what the test wants. */
async function startLoose(options: Parameters<typeof start>[0] = {}) {
  const loose = await startLooseIssuer();
  const api = await start({ issuer: loose.url, ...options });
  const begin = async (query = "") => {
    const left = await api.call(`GET /session/oidc${query}`, { as: null, headers: HEADERS });
    return { came: loose.visit(left.headers["location"]), journey: cookieOf(left, JOURNEY) };
  };
  const logInAs = async (claims: Record<string, unknown>, query = "") => {
    loose.claims = { sub: "s-1", preferred_username: "anita", topupd_role: "admin", ...claims };
    const answer = await comeBack(api, await begin(query));
    return { answer, session: cookieOf(answer, "topupd_session") };
  };
  const addKey = async (session: string) => {
    const body = { name: "billing", role: "viewer" };
    return (await api.call("POST /staff-keys", { as: { session }, body })).json.code as string | undefined;
  };
  return { api, loose, begin, logInAs, addKey };
}

describe("the time of a log-in at the issuer", () => {
  const seconds = (of: StaffApi) => Math.floor(of.service.now / 1000);

  test("proves nothing if it is not stated, but logs in", async () => {
    const { logInAs, addKey } = await startLoose();
    const { answer, session } = await logInAs({}, "?proof=yes");
    expect(answer.headers["location"]).toBe(`${CONSOLE}/`);
    expect(await addKey(session)).toBe("log_in_again");
  });

  test("is not stated by an honest issuer if the browser takes max_age out of the address", async () => {
    const api = await start();
    const browser: Browsing = new Map();
    await logIn(api, "maya", { browser });
    const left = await api.call("GET /session/oidc?proof=yes", { as: null, headers: HEADERS });
    const page = new URL(left.headers["location"]);
    page.searchParams.delete("max_age");
    const came = await issuer.visit(page.href, "maya", browser);
    const session = cookieOf(await comeBack(api, { came, journey: cookieOf(left, JOURNEY) }), "topupd_session");
    const body = { name: "billing", role: "viewer" };
    expect((await api.call("POST /staff-keys", { as: { session }, body })).json.code).toBe("log_in_again");
  });

  test("logs nobody in if it is three days old, or in milliseconds", async () => {
    const { api, logInAs } = await startLoose();
    for (const [auth_time, query, problem] of [
      [seconds(api) - 3 * 86_400, "", "not_recent"],
      [seconds(api) - 301, "?proof=yes", "not_recent"],
      [api.service.now, "?proof=yes", "not_recent"],
      ["now", "", "failed"],
    ] as const)
      expect(problemOf((await logInAs({ auth_time }, query)).answer)).toEqual(failed(problem));
    expect(await actionsOf(api)).toEqual([]);
    const { answer } = await logInAs({ auth_time: seconds(api) - 301 });
    expect(answer.headers["location"]).toBe(`${CONSOLE}/`);
  });

  test("does not matter to a withdrawn role: the sessions end", async () => {
    const { api, logInAs } = await startLoose();
    const { session } = await logInAs({});
    await logInAs({ auth_time: 0, topupd_role: "viewer" });
    expect((await api.call("GET /session", { as: { session } })).status).toBe(401);
    expect((await actionsOf(api)).at(-1)?.[4]).toBe('{"role":"viewer"}');
  });
});

test("a role is found in a nested claim", async () => {
  const { api, logInAs } = await startLoose({ roleClaim: "resource_access.topupd.roles" });
  const claims = { topupd_role: "admin", resource_access: { topupd: { roles: ["finance"] } } };
  const { session } = await logInAs(claims);
  expect((await api.call("GET /session", { as: { session } })).json.role).toBe("finance");
});

test("a log-in that fails at the issuer is counted and logged like one with a wrong password", async () => {
  const outcomes: string[] = [];
  const { api, loose, begin } = await startLoose({ world: { countFailedLogIn: (outcome) => outcomes.push(outcome) } });
  loose.claims = { sub: "s-1", nonce: "of another log-in" };
  const { came, journey } = await begin();
  const forged = { came, journey };
  for (let times = 0; times < 100; times += 1) expect(problemOf(await comeBack(api, forged))).toEqual(failed("failed"));
  const locked = failed("too_many_attempts");
  for (let times = 0; times < 20; times += 1) expect(problemOf(await comeBack(api, forged))).toEqual(locked);
  expect(loose.asked).toBe(100);
  expect([outcomes.indexOf("too_many_attempts"), outcomes.length]).toEqual([100, 120]);
  const lines = api.logs.map((line) => JSON.parse(line));
  expect(lines.filter(({ msg }) => msg === "a log-in failed")).toHaveLength(100);
  expect(lines[0]).toMatchObject({ level: "warn", address: "127.0.0.1", cause: expect.stringContaining("JWT") });
  expect(lines.length).toBeLessThan(130);
  // A start costs the issuer nothing, so it writes and counts nothing.
  expect((await begin()).came).toContain("/session/oidc/callback");
  api.service.now += 15 * MINUTE;
  loose.claims = { sub: "s-1", preferred_username: "anita", topupd_role: "admin" };
  expect(cookieOf(await comeBack(api, await begin()), "topupd_session")).not.toBe("");
});

test("requests of other pages, and strangers, lock out nobody who logs in with the issuer", async () => {
  const { api, begin, loose, logInAs } = await startLoose();
  const { answer } = await logInAs({});
  const [, device = ""] = /(topupd_device_\d+=[^;]+)/.exec(String(answer.headers["set-cookie"])) ?? [];
  const { came, journey } = await begin();
  for (let times = 0; times < 101; times += 1)
    expect(problemOf(await comeBack(api, { came, journey: "" }))).toEqual(failed("failed"));
  loose.claims["nonce"] = "of another log-in";
  for (let times = 0; times < 101; times += 1) await comeBack(api, { came, journey });
  delete loose.claims["nonce"];
  const again = async (cookie: string) => problemOf(await comeBack(api, await begin(), cookie));
  expect(await again(device.replace(/=./, "=_"))).toEqual(failed("too_many_attempts"));
  expect((await again(device))[1]).toBe(`${CONSOLE}/`);
});

/** Writes informational answers until the socket is closed. */
function stream103({ socket }: ServerResponse) {
  const more = () => {
    if (socket?.writable === true)
      socket.write("HTTP/1.1 103 Early Hints\r\n\r\n".repeat(100), () => setImmediate(more));
  };
  socket?.on("error", () => {});
  more();
}

test.each([
  ["over 1 MiB", (response: ServerResponse) => response.end(`{"access_token":"${"a".repeat(1024 * 1024)}"}`)],
  ["that never ends", (response: ServerResponse) => response.write("{")],
  ["that breaks off", (response: ServerResponse) => response.write("{", () => response.destroy())],
])("an answer of the issuer %s is none", async (_, answer) => {
  const { api, loose, begin } = await startLoose({ timeout: 1 });
  const attempt = await begin();
  loose.answer = answer;
  expect(problemOf(await comeBack(api, attempt))).toEqual(failed("unavailable"));
});

test("an issuer that streams informational answers is given up at once", async () => {
  const { api, loose, begin } = await startLoose();
  const attempt = await begin();
  loose.answer = stream103;
  expect(problemOf(await comeBack(api, attempt))).toEqual(failed("unavailable"));
  const causes = api.logs.map((line) => JSON.parse(line)).map(({ cause }) => cause);
  expect(causes.filter(Boolean)).toEqual(["more than 16 informational answers (1xx)"]);
});

describe("a person of the issuer", () => {
  test("logs in with it again in place of the password, within five minutes", async () => {
    const api = await start();
    const browser: Browsing = new Map();
    const { session } = await logIn(api, "maya", { browser });
    const body = { name: "billing", role: "viewer" };
    const add = async (by: string, name: string) => {
      const { status, json } = await api.call("POST /staff-keys", { as: { session: by }, body: { ...body, name } });
      return [status, json?.code];
    };
    expect(await add(session, "first")).toEqual([201, undefined]);
    api.service.now += 6 * MINUTE;
    expect(await add(session, "second")).toEqual([403, "log_in_again"]);
    // The issuer remembers the person.
    const { session: silent } = await logIn(api, "maya", { browser });
    expect(await add(silent, "third")).toEqual([403, "log_in_again"]);
    const { headers } = await api.call("GET /session/oidc?proof=yes", { as: null, headers: HEADERS });
    expect(new URL(headers["location"]).searchParams.get("max_age")).toBe("300");
    api.service.now -= 6 * MINUTE;
    const { session: proved } = await logIn(api, "maya", { browser, query: "?proof=yes" });
    expect(await add(proved, "fourth")).toEqual([201, undefined]);
  });

  test("has no password and no codes here, is changed at the issuer, and can be removed", async () => {
    const api = await start();
    const { session } = await logIn(api, "maya");
    const as = { session };
    const change = { as, body: { password: "tumbling otters sing" } };
    expect((await api.call("PUT /session/password", change)).json.detail).toBe(
      "Maya logs in with OpenID Connect: change the account at the issuer.",
    );
    const { session: ravi } = await logIn(api, "ravi");
    for (const body of [{ role: "viewer" }, { password: "tumbling otters sing" }, { totp: false }])
      expect((await api.call("PATCH /staff/ravi", { as, body })).json).toMatchObject({ code: "conflict" });
    expect((await api.call("DELETE /staff/ravi", { as, body: {} })).status).toBe(204);
    expect((await api.call("GET /session", { as: { session: ravi } })).status).toBe(401);
    const guess = { name: "maya", password: "" };
    for (const password of ["null", "undefined", "x"])
      expect((await api.call("POST /session", { as: null, body: { ...guess, password } })).status).toBe(401);
  });

  test("has no session once nobody logs in with the issuer, nor has a password's once that is off", async () => {
    const api = await start();
    const { session } = await logIn(api, "maya");
    await api.addPerson("Hari", "viewer");
    const hari = await api.logIn("Hari");
    const ways = async () => (await api.call("GET /session/ways", { as: null })).json;
    const statuses = async () => {
      const asked = [session, hari].map((each) => api.call("GET /session", { as: { session: each } }));
      return (await Promise.all(asked)).map(({ status }) => status);
    };
    expect(await ways()).toEqual({ password: true, issuer: new URL(issuer.url).host, firstAdmin: false });
    expect(await statuses()).toEqual([200, 200]);
    const body = { name: "Hari", password: PASSWORD };
    const off = await restart(api, { passwordLogIn: false });
    expect((await off.call("POST /session", { as: null, body })).json).toMatchObject({ code: "password_off" });
    expect((await off.call("GET /session/ways", { as: null })).json.password).toBe(false);
    const sessions = async (by: StaffApi) =>
      Promise.all(
        [session, hari].map(async (each) => (await by.call("GET /session", { as: { session: each } })).status),
      );
    expect(await sessions(off)).toEqual([200, 401]);
    expect(await sessions(await restart(api, { issuer: undefined }))).toEqual([401, 200]);
  });
});

/** The same database, served with other settings. */
async function restart(api: StaffApi, world: NonNullable<StaffApiOptions["world"]>): Promise<StaffApi> {
  const other = await start({ world: { ...api.world, ...world } });
  return other;
}
