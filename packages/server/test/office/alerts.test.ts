import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { readConfig } from "../../src/config.ts";
import type { Target } from "../../src/domain/target.ts";
import { alertWatch } from "../../src/office/alerts/watch.ts";
import { addTarget } from "../../src/office/targets/operations.ts";
import { outboxOf } from "../../src/store/outbox.ts";
import { mailerOf } from "../../src/system/mail.ts";
import { startDelivering } from "../../src/workers/deliver-events.ts";
import { Lease } from "../../src/workers/worker.ts";
import { run } from "../support/desk.ts";
import { smtpServer } from "../support/smtp-server.ts";
import { openWorld } from "../support/world.ts";
import { startReceiver } from "../targets/receivers.ts";

const PLAIN = { currency: undefined, numberGrouping: "western", consoleUrl: undefined } as const;

test("an alert reaches a webhook and a mail server, and neither gets a secret or a customer's data", async () => {
  const world = await openWorld();
  const { store, ports, partner, desk } = world;
  const [receiver, server] = [await startReceiver(), await smtpServer()];
  const webhook = { url: receiver.url };
  const { secret } = await run(desk, addTarget, { name: "tv", webhook });
  const call = { operation: "get-customer-information", code: "9800000101", requestId: "r" };
  const refused = { at: world.now, partnerId: partner.id, environment: "production" } as const;
  await store.recordRefusedCalls([{ ...call, ...refused, reason: "rate_limited", detail: "look-ups" }]);

  const config = readConfig(
    {
      TOPUPD_MAIL: `smtp://ravi:pass-word@127.0.0.1:${server.port}`,
      TOPUPD_MAIL_FROM: "topupd@provider.example",
      TOPUPD_MAIL_TO: "alerts@provider.example",
    },
    {},
  );
  const { clock } = ports;
  const outbox = outboxOf(store.engine);
  const workerPorts = {
    ...{ store: { outbox, provider: store.provider }, clock, random: ports.random, holder: "p1", log: () => {} },
    stopwatch: clock,
    sleep: (ms: number, signal?: AbortSignal) => sleep(ms, undefined, { signal }).catch(() => {}),
    createSender: (target: Target) => desk.targets.createSender(target, store),
  };
  const lease = new Lease(outbox, workerPorts, "alerts");
  await alertWatch({ store, clock, mailer: mailerOf(config, { clock }), words: PLAIN, lease, log: () => {} })(
    new AbortController().signal,
  );
  const delivering = startDelivering(workerPorts);
  onTestFinished(() => delivering.stop());

  await expect.poll(() => receiver.deliveries.length).toBe(1);
  const told = JSON.parse(receiver.deliveries[0]?.body ?? "");
  expect(told).toMatchObject({ type: "look_ups.refused", data: { environment: "production", partner: "wallet" } });
  const subjects = server.mails.map((mail) => /^Subject: (.*)$/m.exec(mail)?.[1]);
  const others = ["topupd: no backup", "topupd: no check of the database"];
  expect(new Set(subjects)).toEqual(new Set([...others, "topupd: wallet: look-ups refused"]));
  const sent = [...server.mails, ...receiver.deliveries.map(({ body }) => body)].join();
  for (const hidden of ["pass-word", "9800000101", secret ?? "whsec_"]) expect(sent).not.toContain(hidden);
});
