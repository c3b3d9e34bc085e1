import { beforeAll, describe, expect, test } from "vitest";
import type { StaffRole } from "../../src/domain/authority.ts";
import { DAY_MS } from "../../src/domain/wall-time.ts";
import { readEntries } from "../../src/office/audit/sql.ts";
import { changeStaff } from "../../src/office/staff/operations.ts";
import { deskOf, run } from "../support/desk.ts";
import { PASSWORD, type StaffApi, shareStaffApi, startStaffApi } from "../support/staff-api.ts";

/* API keys that people made, after their makers lost rights or left. */

const shared = shareStaffApi();

beforeAll(() => shared().addPerson("Ravi", "admin"));

/** Adds a person, who makes a key. @returns the headers of a program that uses it. */
async function keyMadeBy(api: StaffApi, maker: string, name: string, role: StaffRole = "admin") {
  await api.addPerson(maker, "admin");
  const session = await api.logIn(maker);
  const body = { name, role, ownPassword: PASSWORD };
  const { json } = await api.call("POST /staff-keys", { as: { session }, body });
  return { authorization: `Bearer ${json.key}` };
}

const setRole = ({ service }: StaffApi, name: string, role: StaffRole) =>
  run(deskOf(service.ports), changeStaff, { name, role });

/** Status and code of a request that only admins can make. */
async function addPartner({ call }: StaffApi, headers: Record<string, string>, name: string) {
  const { status, json } = await call("POST /partners", { as: null, headers, body: { name } });
  return [status, json?.code];
}

describe("a key of a person with another role", () => {
  test("allows from then on what the role allows, and everything again with the former role", async () => {
    const api = shared();
    const headers = await keyMadeBy(api, "Dipa", "billing");
    expect(await addPartner(api, headers, "First")).toEqual([201, undefined]);
    await setRole(api, "Dipa", "support");
    expect(await addPartner(api, headers, "Second")).toEqual([403, "forbidden"]);
    expect((await api.call("GET /partners", { as: null, headers })).status).toBe(200);
    expect(await keyNamed(api, "billing")).toMatchObject({ role: "support", madeBy: "Dipa" });
    await setRole(api, "Dipa", "admin");
    expect(await addPartner(api, headers, "Second")).toEqual([201, undefined]);
  });

  test("allows only what both roles allow", async () => {
    const api = shared();
    const headers = await keyMadeBy(api, "Esha", "crm", "finance");
    await setRole(api, "Esha", "support");
    expect(await keyNamed(api, "crm")).toMatchObject({ role: "viewer" });
    const partner = await api.call("GET /partners", { as: null, headers });
    const taxes = await api.call("POST /reconciliations", { as: null, headers, body: {} });
    expect([partner.status, taxes.status]).toEqual([200, 403]);
  });
});

describe("who made keys", () => {
  test("is not removed while programs use them, unless they end with the account", async () => {
    const api = await startStaffApi();
    const headers = await keyMadeBy(api, "Dipa", "billing");
    await api.call("POST /staff-keys", {
      ...{ as: { session: await api.logIn("Dipa") }, body: { name: "unused", role: "viewer", ownPassword: PASSWORD } },
    });
    await addPartner(api, headers, "First");
    const as = await anotherAdmin(api);
    const remove = (more: object) => api.call("DELETE /staff/Dipa", { as, body: { ownPassword: PASSWORD, ...more } });
    const refused = await remove({});
    expect([refused.status, refused.json.code]).toEqual([409, "conflict"]);
    expect(refused.json.detail).toMatch(/keys of Dipa within the last 7 days: billing\./);
    expect(await addPartner(api, headers, "Second")).toEqual([201, undefined]);
    expect((await remove({ endKeys: true })).status).toBe(204);
    expect(await addPartner(api, headers, "Third")).toEqual([401, "not_logged_in"]);
    const entries = (await readEntries(api.service.store.engine.db, 0, 100)).slice(-3);
    expect(entries.map(({ author, action, subject }) => [author, action, subject])).toEqual([
      ["Ravi", "staff_key.remove", "billing"],
      ["Ravi", "staff_key.remove", "unused"],
      ["Ravi", "staff.remove", "Dipa"],
    ]);
  });

  test("is removed with the keys that no program used for 7 days", async () => {
    const api = await startStaffApi();
    const headers = await keyMadeBy(api, "Dipa", "billing");
    await addPartner(api, headers, "First");
    api.service.now += 7 * DAY_MS - 1;
    const body = { ownPassword: PASSWORD };
    const as = await anotherAdmin(api);
    expect((await api.call("DELETE /staff/Dipa", { as, body })).status).toBe(409);
    api.service.now += 1;
    expect((await api.call("DELETE /staff/Dipa", { as, body })).status).toBe(204);
    expect(await keyNamed(api, "billing")).toBeUndefined();
    expect(await addPartner(api, headers, "Second")).toEqual([401, "not_logged_in"]);
  });
});

test("a key that was made in the shell belongs to nobody, and names no maker", async () => {
  expect(await keyNamed(shared(), "admin")).toMatchObject({ role: "admin", madeBy: null });
});

async function keyNamed(api: StaffApi, name: string) {
  const { json } = await api.call("GET /staff-keys");
  return (json.items as { name: string }[]).find((key) => key.name === name);
}

async function anotherAdmin(api: StaffApi) {
  await api.addPerson("Ravi", "admin");
  return { session: await api.logIn("Ravi") };
}
