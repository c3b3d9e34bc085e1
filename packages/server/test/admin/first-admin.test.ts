import { describe, expect, test } from "vitest";
import { PASSWORD, type StaffApi, startStaffApi } from "../support/staff-api.ts";

const CODE = "abcd-efgh-ijkm-npqr";
const ELSEWHERE = "203.0.113.7";

const ways = async (api: StaffApi, more: object = {}) =>
  (await api.call("GET /session/ways", { as: null, ...more })).json.firstAdmin;
const add = (api: StaffApi, body: object = {}, more: object = {}) =>
  api.call("POST /setup/admin", { as: null, body: { name: "Maya", password: PASSWORD, code: CODE, ...body }, ...more });

describe("the first admin", () => {
  test("is added with the code, and then nobody can add another", async () => {
    const api = await startStaffApi({ world: { setUpCode: CODE, totpRoles: new Set(["admin"]) } });
    expect(await ways(api)).toBe(true);
    const weak = await add(api, { password: "password1234" });
    expect(weak.json.fields).toMatchObject([{ field: "password" }]);
    expect((await add(api)).status).toBe(204);
    expect(await ways(api)).toBe(false);
    for (const code of ["", CODE]) {
      const late = await add(api, { name: "Ravi", code }, { from: code === "" ? "127.0.0.1" : ELSEWHERE });
      expect([late.status, late.json.code]).toEqual([409, "conflict"]);
    }
    const session = await api.logIn("Maya");
    expect((await api.call("GET /session", { as: { session } })).json).toMatchObject({
      role: "admin",
      mustSetUp: "totp",
    });
    expect((await api.call("GET /audit?action=staff.add")).json.items).toMatchObject([
      { author: "first run", byStaff: false, subject: "Maya", after: { role: "admin" } },
    ]);
  });

  test("needs the code of the log from everywhere, this machine too", async () => {
    const api = await startStaffApi({ world: { setUpCode: CODE }, consoleNames: new Set(["console.example"]) });
    const others = [
      { from: "127.0.0.1" },
      { from: ELSEWHERE },
      { headers: { "x-forwarded-for": "127.0.0.1" } },
      { headers: { forwarded: "for=127.0.0.1" } },
      { headers: { host: "console.example" } },
    ];
    for (const other of others) {
      expect(await ways(api, other)).toBe(true);
      for (const code of [undefined, "", "abcd-efgh-ijkm-npqs"]) {
        const { status, json } = await add(api, { code }, other);
        expect([status, json.fields]).toEqual([422, [{ field: "code", problem: "is not the code of the log" }]]);
      }
    }
    expect((await add(api, { code: CODE.toUpperCase() }, { from: ELSEWHERE })).status).toBe(204);
  });

  test("is refused to who guesses the code, after as many times as a log-in is", async () => {
    const api = await startStaffApi({ world: { setUpCode: CODE } });
    const statuses = new Set<number>();
    for (let times = 0; times < 100; times += 1)
      statuses.add((await add(api, { code: String(times) }, { from: ELSEWHERE })).status);
    expect([...statuses]).toEqual([422]);
    const late = await add(api, { code: CODE }, { from: ELSEWHERE });
    expect([late.status, late.json.code]).toEqual([429, "too_many_attempts"]);
    expect((await add(api, { code: CODE }, { from: "203.0.114.7" })).status).toBe(204);
  });

  test("is added by another site's page never, nor where nobody logs in by password", async () => {
    const api = await startStaffApi({ world: { setUpCode: CODE } });
    const foreign = await add(api, {}, { headers: { "sec-fetch-site": "cross-site" } });
    expect(foreign.json.code).toBe("cross_site");
    const byIssuer = await startStaffApi({ world: { setUpCode: CODE, passwordLogIn: false } });
    expect(await ways(byIssuer)).toBe(false);
    expect((await add(byIssuer)).status).toBe(409);
    const withoutCode = await startStaffApi();
    expect(await ways(withoutCode, { from: ELSEWHERE })).toBe(false);
    expect((await add(withoutCode, { code: "" }, { from: ELSEWHERE })).status).toBe(409);
  });
});
