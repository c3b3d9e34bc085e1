import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { outboxOf } from "../../src/store/outbox.ts";
import { targetTools } from "../../src/targets/tools.ts";
import { startDelivering } from "../../src/workers/deliver-events.ts";
import { OWN_NETWORKS } from "../support/desk.ts";
import { prepareTopUp } from "../support/service.ts";
import { type StaffApi, startStaffApi } from "../support/staff-api.ts";

const FOLDER = fileURLToPath(new URL("../../../../examples/tv-receiver/", import.meta.url));
const BOX = "00012345";
const UNKNOWN_BOX = "99000001";

/** Starts the example as its reader does. */
async function startReceiver(env: Record<string, string>) {
  const child = spawn(process.execPath, [join(FOLDER, "receiver.mjs")], { env, stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "close");
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  const kill = async () => {
    child.kill("SIGKILL");
    await ended;
  };
  onTestFinished(kill);
  await expect.poll(() => said).toMatch(/for the desk on port \d+\n/);
  const [, port, deskPort] = /listening on port (\d+), for the desk on port (\d+)\n/.exec(said) ?? [];
  const commands = () => said.split("\n").filter((line) => line.startsWith("CAS: "));
  const desk = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${deskPort}/${path}`, { method: "POST" });
    return [response.status, await response.json()] as const;
  };
  return { port: port ?? "", kill, commands, desk, said: () => said };
}

/** A service with two customers who have a set-top box each; its staff API listens. */
async function startService() {
  const api = await startStaffApi();
  const { service } = api;
  service.now = Date.now();
  await service.importCatalogue([{ service: "tv", code: "TV-1M", name: "Family (MONTHLY)", price: "450" }]);
  const rows = [BOX, UNKNOWN_BOX].map((stb) => {
    const tv = [{ stb, status: "active" }];
    return { cuid: `c${stb}`, first_name: "Maya", last_name: "Rai", status: "active", connections: { tv } };
  });
  await service.importCustomers(rows);
  const url = await api.app.listen({ host: "127.0.0.1", port: 0 });
  return { api, url };
}

function deliver({ service }: StaffApi) {
  const { store, clock, random } = service.ports;
  const tools = targetTools({ clock, random }, OWN_NETWORKS);
  const worker = startDelivering({
    ...{
      store: { outbox: outboxOf(store.engine), provider: store.provider },
      clock: Date.now,
      stopwatch: Date.now,
      random,
      holder: "test",
      log: () => {},
    },
    sleep: (ms, signal) => setTimeout(ms > 5_000 ? ms : 5, undefined, { signal }).catch(() => {}),
    createSender: (target) => tools.createSender(target, store),
  });
  onTestFinished(() => worker.stop());
}

async function pay({ service }: StaffApi, box: string): Promise<void> {
  const options = { token: service.liveToken };
  const purchase = await prepareTopUp(service, { cuid: `c${box}`, service: "tv", reqId: box }, "TV-1M", options);
  expect((await service.call("subscription-package-topup", purchase, options)).status).toBe(200);
}

async function stateOf(api: StaffApi, box: string): Promise<string> {
  const { json } = await api.call(`GET /customers/c${box}?environment=production`);
  return json.connections[0].chain?.text.replace(/ \d\d:\d\d:\d\d/g, "").replace(/^\w+ \S+ · /, "") ?? "";
}

test("the example carries out, confirms, recalls and compares, and a kill loses nothing", async () => {
  const { api, url } = await startService();
  const env = {
    ...{ TOPUPD_URL: url, TOPUPD_STAFF_KEY: api.keys.support, JOURNAL: join(api.folder, "boxes.ndjson") },
    ...{ PORT: "0", DESK_PORT: "0", TOPUPD_WEBHOOK_SECRET: "whsec_AAAA", TOPUPD_TARGET_KEY: "none" },
  };
  const first = await startReceiver(env);
  const webhook = { url: `http://127.0.0.1:${first.port}/` };
  const { json } = await api.call("POST /targets", { body: { name: "tv", webhook } });
  const { key } = (await api.call("POST /targets/tv/key")).json;
  await first.kill();
  const known = { ...env, PORT: first.port, TOPUPD_WEBHOOK_SECRET: json.secret, TOPUPD_TARGET_KEY: key };
  const second = await startReceiver(known);
  deliver(api);

  await pay(api, BOX);
  await expect.poll(() => stateOf(api, BOX)).toBe(`tv accepted · 'box ${BOX} authorised'`);
  await pay(api, UNKNOWN_BOX);
  await expect.poll(() => stateOf(api, UNKNOWN_BOX)).toBe(`tv accepted · failed: box ${UNKNOWN_BOX} is unknown`);
  const [on] = second.commands();
  expect(on).toMatch(`CAS: ${BOX} on until 2`);
  expect(await second.desk(`recall/${BOX}`)).toMatchObject([202, { box: BOX }]);
  await expect.poll(() => second.commands()).toEqual([on, on]);
  expect((await second.desk("recall/1"))[0]).toBe(404);
  expect(await second.desk("compare")).toEqual([200, { compared: 2, differing: [], unknown: [] }]);
  await second.kill();

  // An unconfirmed line of the journal is what a kill before the command leaves; another box was forgotten altogether.
  const lines = readFileSync(env.JOURNAL, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  const open = { ...lines.findLast(({ box }) => box === BOX), isDone: false };
  writeFileSync(env.JOURNAL, `${JSON.stringify(open)}\n{"box":"cut`);
  const third = await startReceiver(known);
  await expect.poll(() => third.commands()).toEqual([on]);
  expect(await third.desk("compare")).toMatchObject([200, { differing: [UNKNOWN_BOX] }]);
  await expect.poll(() => third.said()).toContain(`${UNKNOWN_BOX}: staff sent it again`);
});
