import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { reversePractised } from "../../server/src/office/practice/reversals.ts";
import { setWebhook } from "../../server/src/office/targets/webhook.ts";
import { dueOf } from "../../server/src/store/due.ts";
import { outboxOf } from "../../server/src/store/outbox.ts";
import { targetTools } from "../../server/src/targets/tools.ts";
import { startDeliveringDue } from "../../server/src/workers/deliver-due.ts";
import { deskOf, OWN_NETWORKS, run } from "../../server/test/support/desk.ts";
import { PREFIX, startTestService } from "../../server/test/support/service.ts";
import { type Report, runConformance, WrongOption } from "../src/index.ts";
import { check, failedIn } from "./support/conformance.ts";
import { SECRET, withWebhook } from "./support/fake-webhook.ts";
import { freeUrl, startSocketServer } from "./support/server.ts";
import { WEBHOOK_MUTANTS } from "./support/webhook-mutants.ts";

/* topupd's webhook for a partner, which the kit receives. */

/** Outcomes and reasons of the webhook's checks. */
function outcomesIn({ results }: Report): unknown[] {
  const found = results.filter(({ id }) => id.startsWith("webhook-"));
  return found.map(({ outcome, reason }) => reason ?? outcome);
}

describe("a webhook that tells of a top-up and its reversal", () => {
  test("holds, also if a fact comes twice, and the top-up is announced", async () => {
    const { fake, settings } = withWebhook(([recorded, reversed]) => [recorded, { ...recorded }, reversed]);
    const lines: string[] = [];
    const onProgress = (line: string) => {
      lines.push(line);
      settings.onProgress?.(line);
    };
    const { report } = await check(fake, { ...settings, onProgress });
    expect([failedIn(report), report.ok, outcomesIn(report)]).toEqual([[], true, ["holds", "holds", "holds"]]);
    expect(lines).toContain("  and one, which topupd reverses, for the webhook");
  });

  test.each(WEBHOOK_MUTANTS)("is caught by just that if it $name", async ({ change, caught }) => {
    const { fake, settings } = withWebhook(change);
    const { report } = await check(fake, settings);
    expect([failedIn(report), report.ok]).toEqual([[caught], false]);
  });

  test("is not judged without the option, without a top-up, and after a doubtful one", async () => {
    const { fake, settings } = withWebhook();
    const { webhook: _, ...without } = settings;
    const all = (reason: string) => [reason, reason, reason];
    expect(outcomesIn((await check(fake, without)).report)).toEqual(all("needs --webhook-port"));
    const doubtful = await check({ ...fake, takesAnyAmount: true }, settings);
    expect(outcomesIn(doubtful.report)).toEqual(all("nothing is bought after a doubtful top-up"));
    expect(doubtful.provider.requests.filter(({ fields }) => fields["reqId"] === "reversed")).toEqual([]);
    expect(outcomesIn((await check({ isTopupd: true }, settings)).report)).toEqual(
      all("there is no practice customer"),
    );
  });

  test("needs a free port, before anything is sent", async () => {
    const port = Number(new URL(await startSocketServer(() => {})).port);
    const { fake, settings } = withWebhook();
    const running = check(fake, { ...settings, webhook: { port, secret: SECRET } });
    await expect(running).rejects.toThrow(new WrongOption("--webhook-port: EADDRINUSE; give another port"));
  });
});

test("topupd's own webhook is received", async () => {
  const service = await startTestService();
  const { store, ports } = service;
  const desk = deskOf(ports);
  const base = `${await service.app.listen({ host: "127.0.0.1", port: 0 })}${PREFIX}/v1.0.1`;
  const { port } = new URL(await freeUrl());
  const url = `http://127.0.0.1:${port}/`;
  const { secret } = await run(desk, setWebhook, { name: "wallet", url, environment: "trial" });
  const clock = () => service.now;
  const tools = targetTools({ clock, random: ports.random }, OWN_NETWORKS);
  const worker = startDeliveringDue({
    store: { outbox: outboxOf(store.engine), due: dueOf(store.engine) },
    ...{ clock, stopwatch: () => performance.now(), random: ports.random, holder: "test", log: () => {} },
    sleep: (ms, signal) => pause(ms, undefined, { signal }).catch(() => {}),
    createTeller: (target) => tools.createTeller(target, store),
  });
  try {
    const wait = async (ms: number) => {
      // Soon reversed, and patient with a busy machine.
      service.now += 5 * ms;
      await reversePractised(ports);
      await pause(250);
    };
    const webhook = { port: Number(port), secret: secret ?? "" };
    const options = { base, token: service.trialToken, code: "1000001", versions: ["v1.0.1"] as const };
    const report = await runConformance({ ...options, topUp: true, profile: "topupd", webhook, wait });
    expect([failedIn(report), outcomesIn(report)]).toEqual([[], ["holds", "holds", "holds"]]);
  } finally {
    await worker.stop();
  }
});
