import { expect, test } from "vitest";
import { eventId } from "../../src/domain/event.ts";
import { eventsAfter } from "../../src/store/events.ts";
import { prepareTopUp } from "../support/service.ts";
import { type StaffApi, startStaffApi } from "../support/staff-api.ts";

/** A webhook with a key, and the id of an event of it. */
async function startWithEvent() {
  const api = await startStaffApi();
  const { service } = api;
  await api.call("POST /targets", { body: { name: "tv", webhook: { url: "http://127.0.0.1:9/" } } });
  const { key } = (await api.call("POST /targets/tv/key")).json;
  const purchase = await prepareTopUp(service, { cuid: "1000001", service: "internet", reqId: "trial1" });
  await service.call("subscription-package-topup", purchase);
  const [event] = await eventsAfter(service.ports.store.engine.db, 0, 1);
  if (event === undefined) throw new Error("there is no event");
  return { api, key: key as string, id: eventId(event) };
}

function confirm({ call }: StaffApi, key: string | null, body: object, headers: Record<string, string> = {}) {
  const authorization = key === null ? {} : { authorization: `Bearer ${key}` };
  return call("POST /confirmations", { as: null, headers: { ...authorization, ...headers }, body });
}

test("a receiver confirms an event by the key of its target, also under another host name, and again", async () => {
  const { api, key, id } = await startWithEvent();
  const done = { eventId: id, state: "done", detail: "box 4711 authorised" };
  const answers = [await confirm(api, key, done), await confirm(api, key, done, { host: "topupd.internal" })];
  expect(answers.map(({ status, json }) => [status, json])).toEqual(answers.map(() => [200, { state: "done" }]));
  const { json } = await api.call("GET /customers/1000001?environment=trial");
  expect(JSON.stringify(json)).toContain("'box 4711 authorised'");
  const unknown = await confirm(api, key, { ...done, eventId: "evt_1_1" });
  expect([unknown.status, unknown.json.code]).toEqual([404, "not_found"]);
});

test("nobody else confirms, and the key opens nothing else", async () => {
  const { api, key, id } = await startWithEvent();
  await api.addPerson("maya", "admin");
  const done = { eventId: id, state: "done" };
  for (const wrong of [null, "", api.keys.admin, api.service.trialToken, api.service.liveToken, `${key}0`]) {
    const { status, json } = await confirm(api, wrong, done);
    expect([status, json.code], String(wrong)).toEqual([401, "not_logged_in"]);
  }
  const session = await api.logIn("maya");
  expect((await api.call("POST /confirmations", { as: { session }, body: done })).status).toBe(401);
  const headers = { authorization: `Bearer ${key}` };
  for (const asked of ["GET /targets", "GET /customers", "GET /session", "POST /targets/tv/key", "GET /events"])
    expect((await api.call(asked, { as: null, headers })).status, asked).toBe(401);
  await api.call("POST /targets/tv/key");
  expect((await confirm(api, key, done)).status).toBe(401);
});

test("a confirmation has an id, one of two states and a short detail", async () => {
  const { api, key, id } = await startWithEvent();
  const good = { eventId: id, state: "failed", detail: "x".repeat(200) };
  for (const body of [
    {},
    { state: "done" },
    { ...good, state: "pending" },
    { ...good, detail: "x".repeat(201) },
    { ...good, more: 1 },
  ])
    expect((await confirm(api, key, body)).status, JSON.stringify(body)).toBe(422);
  expect((await confirm(api, key, good)).json).toEqual({ state: "failed" });
});
