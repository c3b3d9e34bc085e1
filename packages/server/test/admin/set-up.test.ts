import { generate } from "otplib";
import { expect, test } from "vitest";
import { ROUTES } from "../../src/faces/staff-api/routes.ts";
import { addStaff } from "../../src/office/staff/operations.ts";
import { deskOf, run } from "../support/desk.ts";
import { PASSWORD, startStaffApi } from "../support/staff-api.ts";

const NEW_PASSWORD = "tumbling otters sing";

test("a person sets the account up before anything else, and a key needs nothing of it", async () => {
  const api = await startStaffApi({ world: { totpRoles: new Set(["admin"]) } });
  const { ports, actor } = api.service;
  await run(deskOf(ports, actor, api.world), addStaff, { name: "Mina", role: "admin", password: PASSWORD });
  let session = await api.logIn("Mina");
  const call = (asked: string, body?: object) => api.call(asked, { as: { session }, ...(body && { body }) });
  const me = async () => (await call("GET /session")).json;
  expect(await me()).toMatchObject({ mustSetUp: "password", requiresTotp: true, permissions: [] });

  const isOfStaff = ({ permission }: (typeof ROUTES)[number]) => permission !== "public" && permission !== "target";
  const closed = ROUTES.filter((route) => isOfStaff(route) && !route.path.startsWith("/session"));
  expect(closed.length).toBeGreaterThan(60);
  for (const { method, path } of closed) {
    const { status, json } = await call(`${method} ${path.replace(/:\w+/g, "0")}`);
    expect([status, json.code], `${method} ${path}`).toEqual([403, "set_up_first"]);
  }
  const refused = async () => (await call("GET /partners")).json.detail;
  expect(await refused()).toBe("Another person set your password: change it first.");
  const same = await call("PUT /session/password", { password: PASSWORD, ownPassword: PASSWORD });
  expect(same.json.fields).toEqual([{ field: "password", problem: "is your present password: choose another" }]);
  await call("PUT /session/password", { password: NEW_PASSWORD, ownPassword: PASSWORD });

  expect(await refused()).toBe("Your role requires one-time codes: switch them on first.");
  expect(await me()).toMatchObject({ mustSetUp: "totp", permissions: [] });
  expect((await call("GET /session/all")).status).toBe(200);
  const off = await call("DELETE /session/totp", { ownPassword: NEW_PASSWORD });
  expect([off.status, off.json.detail]).toEqual([409, "Your role requires one-time codes."]);
  const { secret } = (await call("POST /session/totp", { ownPassword: NEW_PASSWORD })).json;
  const code = await generate({ secret, epoch: api.service.now / 1_000 });
  expect((await call("PUT /session/totp", { code })).status).toBe(200);
  expect(await me()).toMatchObject({ mustSetUp: null, hasTotp: true, permissions: expect.arrayContaining(["read"]) });
  expect((await call("GET /partners")).status).toBe(200);

  session = "";
  expect((await api.call("GET /session")).json).toMatchObject({ mustSetUp: null, requiresTotp: false });
  expect((await api.call("GET /staff")).json.items).toMatchObject([
    { name: "Mina", lastLogInAt: new Date(api.service.now).toISOString() },
  ]);
});
