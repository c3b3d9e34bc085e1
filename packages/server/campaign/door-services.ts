import type { Server } from "node:http";
import { AddressList } from "../src/domain/address-list.ts";
import { issueCheckout, sealingSecret } from "../src/domain/checkout.ts";
import { buildApp } from "../src/partner/app.ts";
import { by } from "../test/support/by.ts";
import { openTestService, START, type TestService } from "../test/support/open-service.ts";
import { partnersOf, UNLIMITED } from "../test/support/partners.ts";
import { seededRandom } from "../test/support/random.ts";
import { BOUQUET, CUSTOMERS, type World } from "./door-cases.ts";

/** A service on a database of its own. All that are opened here give the same answers to the same requests. */
export interface DoorService {
  readonly server: Server;
  /** How many requests its fast door has served. */
  readonly fastCalls: () => number;
  /** Calls of the observer since this was last emptied. */
  readonly heard: string[];
  readonly world: World;
  /** Some time goes by. From time to time, staff change what tokens may: it is for the next request that counts. */
  pass(step: number): Promise<void>;
  close(): Promise<void>;
}

/** Each is loaded when it is first asked for, in threads, which takes any time. */
const LOADED = ["/docs", "/docs/v1.0.0", "/openapi/v1.0.1.json", "/openapi/v1.0.0.json"];
/** Staff change something after so many steps. */
const STAFF_EVERY = 50;
const NONCE_BYTES = 16;
const DAY_MS = 86_400_000;

/** @param path of the new database. */
export async function openDoor(path: string, hasFastDoor: boolean): Promise<DoorService> {
  const heard: string[] = [];
  const streams = new Map<number, ReturnType<typeof seededRandom>>();
  // A stream for each use, by its number of bytes: services may draw request ids at other times. A checkoutId depends only
  // on its connection and time.
  const random = (bytes: number) => {
    if (bytes === NONCE_BYTES) return new Uint8Array(bytes);
    const stream = streams.get(bytes) ?? seededRandom(bytes);
    streams.set(bytes, stream);
    return stream(bytes);
  };
  const service = await openTestService({
    path,
    ...{ deprecatedAt: START - DAY_MS, sunsetAt: START + 300 * DAY_MS },
    trustedProxies: new AddressList(["127.0.0.1"]),
    observer: {
      requestAnswered: (operation, caller, outcome) => {
        heard.push(`${operation?.version} ${operation?.name} by ${caller?.tokenId}: ${outcome}`);
      },
      topUpRecorded: ({ checkoutId }) => heard.push(`recorded ${checkoutId}`),
      recordingChanged: (since) => heard.push(`fails since ${since}`),
    },
    hasFastDoor,
    build: (options) => buildApp({ ...options, ports: { ...options.ports, random } }),
  });
  const { store } = service;
  await service.importCatalogue([{ service: "internet", ...BOUQUET, name: "Fiber (MONTHLY)" }]);
  await service.importCustomers(Array.from({ length: CUSTOMERS }, (_, at) => customer(at)));
  const walled = await service.addPartner("walled");
  await partnersOf(store).setAllowedAddresses("walled", new AddressList(["10.1.0.0/16"]), by(service.now));
  const swinging = await service.addPartner("swinging");
  const brief = await service.addPartner("brief");
  for (const { name } of await partnersOf(store).list())
    await partnersOf(store).setLimits(name, UNLIMITED, by(service.now));
  const tokens: [string, ...string[]] = [service.liveToken, service.trialToken];
  for (const partner of [walled, swinging, brief]) tokens.push(await service.issue(partner, "production"));
  const secrets = await store.checkoutSecrets();
  const holder = {
    partnerId: ((await partnersOf(store).find("wallet")) ?? walled).id,
    environment: "production",
  } as const;
  const { revision = 0 } = (await store.currentCatalogue("production", service.now)) ?? {};
  service.now += 600_000;
  await load(service);
  return {
    server: service.app.server,
    fastCalls: service.app.fastCalls,
    close: () => service.close(),
    heard,
    world: {
      tokens,
      checkout: (index, age) => {
        const issuedAt = service.now - age;
        const connection = {
          environment: "production",
          cuid: `c${index}`,
          service: "internet",
          reqId: `net${index}`,
        } as const;
        const quote = { revision, issuedAt, nonce: new Uint8Array(NONCE_BYTES) };
        return issueCheckout(sealingSecret(secrets, issuedAt), holder, connection, quote);
      },
    },
    async pass(step) {
      service.now += 1;
      if (step % STAFF_EVERY !== 0) return;
      const isEven = (step / STAFF_EVERY) % 2 === 0;
      await partnersOf(store).setStatus("swinging", isEven ? "suspended" : "active", by(service.now));
      if (isEven) tokens[tokens.length - 1] = await service.issue(brief, "production");
      else {
        const issued = (await partnersOf(store).listTokens()).find(
          ({ partner, revokedAt }) => partner.id === brief.id && revokedAt === undefined,
        );
        if (issued !== undefined) await partnersOf(store).revokeToken(issued.id, by(service.now));
      }
    },
  };
}

function customer(at: number) {
  return {
    ...{ cuid: `c${at}`, first_name: "नाम", last_name: "Last", mobile: `98${at}`, status: "active" },
    connections: { internet: [{ username: `net${at}`, status: "active" }] },
  };
}

async function load(service: TestService): Promise<void> {
  await service.app.listen({ host: "127.0.0.1", port: 0 });
  for (const path of LOADED) await service.inject(path);
}
