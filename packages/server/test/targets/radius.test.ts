import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { connectionOf, makeProvider, PartnerClient } from "../../campaign/partner.ts";
import { expectTopupd, startServing } from "../../campaign/processes.ts";
import type { ConnectionKey } from "../../src/domain/customer.ts";
import type { ConnectionEvent, Recorded } from "../../src/domain/event.ts";
import type { OpenExchange, Sender } from "../../src/domain/target.ts";
import { createZone } from "../../src/domain/wall-time.ts";
import { addressGuard, type Resolve } from "../../src/targets/address-guard.ts";
import { createRadiusSender } from "../../src/targets/radius.ts";
import { OWN_NETWORKS } from "../support/desk.ts";
import { PASSWORD, startFreeRadius } from "../support/freeradius.ts";
import { isInstalled } from "../support/installed.ts";
import { emptyTables, postgresForRadius, type RadiusServer } from "../support/radius-databases.ts";
import { temporaryFolder } from "../support/service.ts";
import { alertEvent } from "./receivers.ts";

const hasFreeRadius = isInstalled("FreeRADIUS");

const never = new AbortController().signal;

/** The sender of a provider in Kathmandu. */
function senderTo(database: string, guard = addressGuard(OWN_NETWORKS)): Sender {
  const config = { timeZone: "UTC", groups: { FBR60: "60M" }, defaultGroup: undefined, service: "internet" } as const;
  const sender = createRadiusSender(
    { kind: "radius", database, ...config },
    { zone: createZone("Asia/Kathmandu"), guard },
  );
  onTestFinished(() => sender.close());
  return sender;
}

function topUpOf(changes: Partial<ConnectionKey> = {}): Recorded<ConnectionEvent> {
  const key = { environment: "production", cuid: "1", service: "internet", reqId: "fiber1", ...changes } as const;
  const run = { start: "2026-01-01 00:00:00", end: "2026-12-01 17:45:00", goodwillDays: 0 };
  const subscription = { plan: "FBR60", bouquetId: "FBR60-1M", name: "FBR60 (MONTHLY)", addOn: false, ...run };
  const state = { blocked: false, subscriptions: [subscription] };
  const at = Date.parse("2026-11-23T06:00:00Z");
  return { seq: 1, kind: "topup.recorded", at, key, state, topUp: undefined, partner: undefined };
}

describe("RADIUS", () => {
  let server: RadiusServer;
  beforeAll(async () => {
    server = await postgresForRadius();
  });
  afterAll(() => server.close());
  afterEach(() => emptyTables(server));

  const rows = async () => [
    ...(await server.query("SELECT username, attribute, op, value FROM radcheck")),
    ...(await server.query("SELECT username, groupname FROM radusergroup")),
  ];

  test("a top-up sets the end and the group, and a second time nothing", async () => {
    const sender = senderTo(server.url);
    const added = ["fiber1  Expiration: nothing -> 01 Dec 2026 12:00:00", "fiber1  group: nothing -> 60M"];
    for (const request of [added.join("\n"), ""]) {
      const exchange: OpenExchange = {};
      await sender.send(topUpOf(), never, exchange);
      expect(exchange).toEqual({ request });
      expect(await rows()).toEqual([
        { username: "fiber1", attribute: "Expiration", op: ":=", value: "01 Dec 2026 12:00:00" },
        { username: "fiber1", groupname: "60M" },
      ]);
    }
  });

  test("trial, other services of the same username, and alerts are passed over", async () => {
    const sender = senderTo(server.url);
    for (const event of [topUpOf({ environment: "trial" }), topUpOf({ service: "iptv" }), alertEvent(1)])
      await sender.send(event, never);
    expect(await rows()).toEqual([]);
  });

  test("a private address is connected to only if the settings allow it, also of a name", async () => {
    const { host } = new URL(server.url);
    const named = server.url.replace(host, `radius.example:${new URL(server.url).port}`);
    const loopback: Resolve = async () => [{ address: "127.0.0.1", family: 4 }];
    const failureAt = (database: string) =>
      senderTo(database, addressGuard(undefined, loopback))
        .send(topUpOf(), never)
        .catch((error: Error) => error.message);
    expect(await failureAt(server.url)).toBe("the address is private, and TOPUPD_PRIVATE_TARGETS does not allow it");
    const refused = "the RADIUS database has an address that is not allowed";
    expect(await failureAt(named)).toBe(refused);
    expect(await failureAt(named.replace(/^postgres\w*/, "mysql"))).toBe(refused);
    expect(await rows()).toEqual([]);
    await senderTo(named, addressGuard(OWN_NETWORKS, loopback)).send(topUpOf(), never);
    expect(await rows()).toHaveLength(2);
  });

  test("a refused write fails the delivery, and is an answer", async () => {
    const sending = senderTo(server.url).send(topUpOf({ reqId: "x".repeat(65) }), never);
    const message = "the RADIUS database failed with 22001";
    await expect(sending).rejects.toMatchObject({ name: "DeliveryFailed", message, isAnswer: true });
  });

  test.skipIf(!hasFreeRadius)(
    "a partner's top-up lets a lapsed user in; a reversal and a block shut it out",
    async () => {
      const { url, query } = server;
      const timeZone = "America/New_York";
      const radius = await startFreeRadius(url, timeZone);
      onTestFinished(() => radius.close());
      const insert = "INSERT INTO radcheck (username, attribute, op, value) VALUES";
      await query(`${insert} ('u1', 'Cleartext-Password', ':=', '${PASSWORD}'),
          ('u1', 'Expiration', ':=', '01 Nov 2026 00:00:00')`);
      await query(
        "INSERT INTO radgroupreply (groupname, attribute, op, value) VALUES ('60M', 'Filter-Id', ':=', '60M')",
      );

      const ground = { cwd: temporaryFolder() };
      const token = await makeProvider(ground);
      const file = join(ground.cwd, "radius.json");
      writeFileSync(file, JSON.stringify({ database: url, timeZone, groups: { Fiber: "60M" } }));
      await expectTopupd(["target", "add", "radius", "--kind", "radius", "--config", file], ground);
      const served = await startServing(ground, 2);
      onTestFinished(async () => void (await served.end("SIGTERM")));
      const client = new PartnerClient(served.url, token);
      const topUp = async () => {
        const { checkoutId } = await client.list(1);
        await client.topUp({ ...connectionOf(1), checkoutId, bouquetId: "NET-1M", amt: "1130" });
        return checkoutId;
      };
      const becomes = (accepted: boolean) =>
        expect.poll(() => radius.test("u1"), { timeout: 15_000, interval: 50 }).toMatchObject({ accepted });

      expect(await radius.test("u1")).toMatchObject({ accepted: false });
      const checkoutId = await topUp();
      await becomes(true);
      const { sessionTimeout = 0, filterId } = await radius.test("u1");
      expect(filterId).toBe("60M");
      expect(sessionTimeout).toBeGreaterThan(28 * DAY_SECONDS - 60);
      expect(sessionTimeout).toBeLessThanOrEqual(31 * DAY_SECONDS);
      await expectTopupd(["transaction", "reverse", checkoutId, "--reason", "paid twice"], ground);
      await becomes(false);
      await topUp();
      await becomes(true);
      await expectTopupd(["connection", "block", "internet", "u1", "--reason", "modem stolen"], ground);
      await becomes(false);
      expect(await expectTopupd(["target", "reconcile", "radius", "--preview", "--json"], ground)).toBe("");
    },
  );
});

const DAY_SECONDS = 24 * 3600;
