import { describe, expect, test } from "vitest";
import { eventMessage } from "../../src/domain/event.ts";
import { blockConnection } from "../../src/office/corrections/operations.ts";
import { eventsAfter } from "../../src/store/events.ts";
import { deskOf, run } from "../support/desk.ts";
import { prepareTopUp } from "../support/service.ts";
import { PASSWORD, shareStaffApi } from "../support/staff-api.ts";

const shared = shareStaffApi();
const call: ReturnType<typeof shared>["call"] = (...asked) => shared().call(...asked);

test("partners are added, limited and suspended, and get tokens, which are shown once", async () => {
  const added = await call("POST /partners", { body: { name: "Blue Wallet" } });
  expect(added.status).toBe(201);
  const limit = { allowedAddresses: ["203.0.113.7", "2001:db8::/32"], status: "suspended" };
  const changed = await call("PATCH /partners/Blue%20Wallet", { body: limit });
  expect(changed.json).toMatchObject({ ...limit, id: added.json.id });
  expect((await call("GET /partners/Blue%20Wallet", { as: "viewer" })).json).toEqual(changed.json);
  expect((await call("GET /partners/Nobody")).json.code).toBe("not_found");
  expect((await call("POST /partners", { body: { name: " Blue" } })).json.fields[0].field).toBe("name");
  const tokens = "/partners/Blue%20Wallet/tokens";
  const issued = await call(`POST ${tokens}?environment=production`, { body: { expiresAt: "2027-03-01" } });
  expect(issued).toMatchObject({ status: 201, json: { expiresAt: "2027-03-01T23:59:59.999Z" } });
  const rotated = await call(`POST /tokens/${issued.json.id}/rotation`, { body: { overlapHours: 2 } });
  const until = { formerId: issued.json.id, formerUntil: "2026-11-20T11:00:00.000Z" };
  expect(rotated).toMatchObject({ status: 201, json: until });
  expect((await call(`DELETE /tokens/${rotated.json.id}`)).json).toMatchObject({ state: "revoked" });
  const { items } = (await call(`GET ${tokens}`, { as: "viewer" })).json;
  expect(items).toMatchObject([{ id: issued.json.id }, { id: rotated.json.id, partner: "Blue Wallet" }]);
  expect(JSON.stringify(items)).not.toMatch(/topup_(live|trial)_/);
});

test("a catalogue is published as it was previewed, and bad lines are named", async () => {
  const row = (name: string) => JSON.stringify({ service: "tv", code: name, name: `${name} (MONTHLY)`, price: 450 });
  const publish = (query: string, ...rows: string[]) =>
    call(`POST /catalogue?environment=production${query}`, {
      ...{ body: rows.join("\n"), headers: { "content-type": "application/x-ndjson" } },
    });
  expect((await publish("&preview=true", row("A"))).json).toMatchObject({ revision: null, added: 1 });
  expect((await publish("", row("A"))).json).toMatchObject({ revision: 2, added: 1, largeChange: null });
  const bad = await publish("&preview=true", row("A"), '{"service":"tv"}');
  expect(bad.json).toMatchObject({ status: 422, detail: expect.stringContaining("leave bad lines out: skipInvalid") });
  expect(bad.json.fields).toContainEqual({ field: "line 2: name", problem: "is required" });
  expect((await call("GET /catalogue/revisions/2", { as: "viewer" })).json.bouquets).toHaveLength(1);
  const { text } = await call("GET /catalogue.csv?environment=production", { as: "viewer" });
  expect(text).toBe("service,code,name,price,segments,plan,retired\r\ntv,A,A (MONTHLY),450,,A,\r\n");
});

describe("targets and events", () => {
  test("are added and removed, and a feed is read by all, but moved on by an admin", async () => {
    const added = await call("POST /targets", { body: { name: "crm", billing: true } });
    expect(added).toMatchObject({
      ...{ status: 201, json: { target: { name: "crm", kind: "feed", billing: true }, secret: null } },
    });
    const named = await call("POST /targets", { body: { name: ".tv" } });
    expect(named.json.fields).toEqual([
      { field: "name", problem: expect.stringMatching(/^must have 1 to 64 letters/) },
    ]);
    const { service } = shared();
    const key = { environment: "trial", cuid: "1000001", service: "internet", reqId: "trial1" } as const;
    for (const blocked of [true, false])
      await run(deskOf(service.ports), blockConnection, { ...key, blocked, reason: "moved" });
    await service.call("subscription-package-topup", await prepareTopUp(service, key));
    const all = (await call("GET /events", { as: "viewer" })).json;
    const { zone, currencyExponent } = service.ports.store.provider;
    const events = await eventsAfter(service.ports.store.engine.db, 0, 100);
    expect(all.items).toEqual(events.map((event) => eventMessage(event, zone, currencyExponent)));
    const first = await call("GET /events?target=crm&limit=1", { as: "viewer" });
    expect(first.json).toMatchObject({ items: [{ type: "connection.blocked", data: { cuid: "1000001" } }] });
    const { cursor } = first.json;
    expect((await call(`GET /events?target=crm&after=${cursor}`, { as: "viewer" })).json.code).toBe("forbidden");
    const taken = await call(`GET /events?target=crm&after=${cursor}`);
    expect(taken.json.items).toMatchObject([{ type: "connection.unblocked" }, { type: "topup.recorded" }]);
    expect((await call("DELETE /targets/crm")).status).toBe(204);
    expect((await call("DELETE /targets/crm")).status).toBe(404);
  });
});

describe("staff", () => {
  test("are added and changed by an admin, who cannot lock themself out, and the trail says who did it", async () => {
    const api = shared();
    await api.addPerson("Mina", "admin");
    const as = { session: await api.logIn("Mina") };
    const ownPassword = PASSWORD;
    const body = { name: "Hari", role: "viewer", password: "yellow 9 lamp on the roof", ownPassword };
    const added = await call("POST /staff", { as, body });
    expect(added.json).toMatchObject({ name: "Hari", role: "viewer", hasTotp: false });
    const weak = await call("POST /staff", { as, body: { ...body, name: "Gita", password: "password1234" } });
    expect(weak.json).toMatchObject({ code: "invalid", fields: [{ field: "password" }] });
    expect((await call("PATCH /staff/Hari", { as, body: { role: "finance", ownPassword } })).json.role).toBe("finance");
    for (const own of [
      await call("PATCH /staff/Mina", { as, body: { role: "viewer", ownPassword } }),
      await call("PATCH /staff/Mina", { as, body: { totp: false, ownPassword } }),
      await call("DELETE /staff/Mina", { as, body: { ownPassword } }),
    ])
      expect(own.json).toMatchObject({ status: 409, code: "own_account" });
    expect((await call("DELETE /staff/Hari", { as, body: { ownPassword } })).status).toBe(204);
    const trail = (await call("GET /audit?limit=3", { as })).json;
    expect(trail.items.map(({ author, action, subject }: Record<string, string>) => [author, action, subject])).toEqual(
      [
        ["Mina", "staff.remove", "Hari"],
        ["Mina", "staff.role", "Hari"],
        ["Mina", "staff.add", "Hari"],
      ],
    );
    expect((await call(`GET /audit?limit=1&cursor=${trail.cursor}&author=tester`)).json.items).toHaveLength(1);
    expect(JSON.stringify(trail)).not.toContain("yellow");
  });

  test("have keys for their systems, which are shown once, and hold until they are removed", async () => {
    await shared().addPerson("Sita", "admin");
    const [as, ownPassword] = [{ session: await shared().logIn("Sita") }, PASSWORD];
    const added = await call("POST /staff-keys", { as, body: { name: "billing", role: "support", ownPassword } });
    expect(added).toMatchObject({ status: 201, json: { key: expect.stringMatching(/^topup_staff_/) } });
    const headers = { authorization: `Bearer ${added.json.key}` };
    const asks = () => call("GET /session", { as: null, headers });
    expect((await asks()).json).toMatchObject({ name: "key billing", role: "support", sessionId: null });
    expect(JSON.stringify((await call("GET /staff-keys")).json)).not.toContain(added.json.key);
    expect((await call("DELETE /staff-keys/billing", { as, body: { ownPassword } })).status).toBe(204);
    expect((await asks()).status).toBe(401);
  });
});
