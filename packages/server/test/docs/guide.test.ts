import { execFile, spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { reverseTransaction } from "../../src/office/corrections/reversal.ts";
import { FAILURES, RETRIES } from "../../src/partner/failures.ts";
import { deskOf, run } from "../support/desk.ts";
import { readFences, tableRows } from "../support/markdown.ts";
import { partnersOf, setAccount } from "../support/partners.ts";
import {
  type Answer,
  PREFIX,
  prepareTopUp,
  START,
  startTestService,
  type TestService,
  temporaryFolder,
} from "../support/service.ts";

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));
const guide = readFileSync(join(ROOT, "docs/partner-guide.md"), "utf8");

const FIBER = { cuid: "1000001", service: "internet", reqId: "trial1" };

const hasCurl = ["bash", "curl"].every((program) => spawnSync(program, ["--version"]).status === 0);
if (!hasCurl) process.stderr.write("SKIPPED: the partner's guide with curl, since bash or curl is not here\n");

describe("the partner's guide", () => {
  test.skipIf(!hasCurl)("has a flow with curl that works just as it is pasted", async () => {
    const service = await startTestService();
    await service.app.listen({ host: "127.0.0.1", port: 0 });
    const { port } = service.app.server.address() as { port: number };
    const folder = temporaryFolder();
    const env = { ...process.env, TOKEN: service.trialToken, BASE: `http://127.0.0.1:${port}${PREFIX}/v1.0.1` };
    const blocks = fences("sh").filter((block) => !block.includes("partner practice"));
    expect(blocks.length).toBe(7);
    const topUp = blocks.find((block) => block.startsWith("call subscription-package-topup")) as string;
    const script = [...blocks, topUp].join("\n");
    const { stdout, stderr } = await promisify(execFile)("bash", ["--norc", "-eu", "-c", script], { cwd: folder, env });
    expect(stderr).toBe("");
    const codes = [...stdout.matchAll(/"success":true,"code":"(\w+)"/g)].map((match) => match[1]);
    expect(codes).toEqual(["400aa010", "400aa010", "400ab001", "400ab001", "400ac010", "400ac010", "400ab001"]);
    const transactions = [...stdout.matchAll(/"txnId":"(\w+)"/g)].map((match) => match[1]);
    expect(new Set(transactions).size).toBe(1);
    const [, checkoutId = ""] = readFileSync(join(folder, "orders.txt"), "utf8").trim().split(" ");
    const bought = { bouquetCode: "TRIAL-NET-3M", udf1: "order-1" };
    expect(await service.store.findTransaction(checkoutId)).toMatchObject(bought);
  });

  test("names only failures and next steps that there are", () => {
    const known: readonly string[] = [...Object.keys(FAILURES), ...RETRIES];
    const words = guide.replace(/^```(?:python|php)\n[\s\S]*?^```$/gm, "");
    const named = [...words.matchAll(/\b[a-z]+(?:_[a-z]+)+\b/g)].map(([name]) => name);
    expect(named.length).toBeGreaterThan(20);
    expect([...new Set(named)].filter((name) => !known.includes(name))).toEqual([]);
  });

  test("says what becomes of each thing that can be tried out in the trial environment", async () => {
    const rows = tableRows(guide).filter(([first = ""]) => first in TRIALS);
    expect(rows.map(([first = ""]) => first).sort()).toEqual(Object.keys(TRIALS).sort());
    const header = tableRows(guide).findIndex(([first]) => first === "Do");
    expect(tableRows(guide).slice(header + 1, header + 1 + rows.length)).toEqual(rows);
    for (const [what = "", expected = ""] of rows) {
      const { status, headers, json } = await (TRIALS[what] as Trial)(await startTestService());
      const isReplay = expected.includes("Idempotent-Replayed");
      if (isReplay) expect([status, headers["idempotent-replayed"]], what).toEqual([200, "true"]);
      else expect(`\`${json.body.reason}\``, what).toBe(expected.split(",")[0]);
    }
  });
});

describe("the state diagram of the guide", () => {
  const arrows = [...guide.matchAll(/^ {4}(\w+|\[\*\]) --> (\w+|\[\*\]): (.*)$/gm)].map(([, from, to, label = ""]) => ({
    from,
    to,
    label: label.replace(/, after .*$/, ""),
    waits: /, after /.test(label),
  }));
  const ENDS = arrows.filter(({ to }) => to === "[*]").map(({ from }) => from);

  /** What an answer is called on the arrows that lead out of a state. */
  const labelOf = (from: string, { status, json }: Answer, order: object, refusal?: string): string => {
    const own = arrows.filter((arrow) => arrow.from === from).map(({ label }) => label);
    const named = (label: string) => (own.includes(label) ? label : "anything else");
    if (status === 200) {
      const { result } = json.body;
      const isThis = Object.entries(order).every(([name, value]) => String(result[name]) === value);
      return named(isThis ? `this order, ${result.status}` : "another order");
    }
    const { reason, retry } = json.body;
    const naming = (word: string) => own.find((label) => label.split(/, | or /).includes(word));
    return naming(reason) ?? (reason === refusal ? named("the same refusal") : (naming(retry) ?? "anything else"));
  };

  /** Goes the way of an order, where some answers are lost. @returns the states it passed, and what was asked. */
  const go = async (service: TestService, purchase: Record<string, string>, start: string, lost: readonly number[]) => {
    const { checkoutId, ...order } = purchase;
    const way = [start];
    let refusal: string | undefined;
    for (let call = 0; !ENDS.includes(way.at(-1)) && call < 400; call += 1) {
      const from = way.at(-1) as string;
      const answer = await (from.startsWith("Asking") || from === "Confirming"
        ? service.call("txn-status", { checkoutId })
        : service.call("subscription-package-topup", purchase));
      const label = lost.includes(call) ? "anything else" : labelOf(from, answer, order, refusal);
      const [arrow, ...others] = arrows.filter((one) => one.from === from && one.label === label);
      if (arrow === undefined || others.length > 0) throw new Error(`${from}: ${others.length} arrows for ${label}`);
      if (arrow.waits) service.now += 10_000;
      if (arrow.to === "Confirming" && from !== arrow.to) refusal = answer.json.body.reason;
      way.push(arrow.to as string);
    }
    return way;
  };

  test("is whole: from every state, every answer leads somewhere", () => {
    for (const from of ["Sent", "Confirming", "Asking", "AskingOnceMore", "Resent"]) {
      const labels = arrows.filter((arrow) => arrow.from === from).map(({ label }) => label);
      expect(labels).toEqual(expect.arrayContaining(["this order, success", "this order, reversed", "anything else"]));
      expect(new Set(labels).size).toBe(labels.length);
    }
    const words = arrows.flatMap(({ label }) => label.split(/, | or /)).filter((word) => word.includes("_"));
    expect(words.filter((word) => !(word in FAILURES) && !(RETRIES as readonly string[]).includes(word))).toEqual([]);
  });

  test.each([
    ["an answer that comes", "Sent", [], ["Sent", "ToppedUp"]],
    ["a lost answer", "Sent", [0], ["Sent", "Asking", "ToppedUp"]],
    ["a lost answer and lost questions", "Sent", [0, 1, 2], ["Sent", "Asking", "Asking", "Asking", "ToppedUp"]],
    ["another's refusal in place of an answer", "Confirming", [], ["Confirming", "ToppedUp"]],
    ["a crash before it was sent", "Asking", [], ["Asking", "Resent", "ToppedUp"]],
  ])("leads to the top-up after %s", async (_, start, lost, way) => {
    const service = await startTestService();
    const purchase = await prepareTopUp(service, FIBER, "TRIAL-NET-3M");
    if (start === "Confirming") await service.call("subscription-package-topup", purchase);
    expect(await go(service, purchase, start, lost)).toEqual(way);
  });

  test("leads to a refusal only when txn-status has had its say", async () => {
    const service = await startTestService();
    const purchase = await prepareTopUp(service, FIBER, "TRIAL-NET-3M");
    const refused = ["Sent", "Confirming", "Refused"];
    expect(await go(service, { ...purchase, amt: "1" }, "Sent", [])).toEqual(refused);
    expect(await go(service, { ...purchase, checkoutId: "x".repeat(65) }, "Sent", [])).toEqual(refused);
    const asked = ["Sent", "Confirming", "Confirming", "Refused"];
    expect(await go(service, { ...purchase, amt: "1" }, "Sent", [1])).toEqual(asked);
    service.now += 301_000;
    expect(await go(service, purchase, "Sent", [])).toEqual(refused);
  });

  test("does not send again what the partner's account lacks the balance for", async () => {
    const service = await startTestService();
    const { id: partnerId = 0 } = (await partnersOf(service.store).find("wallet")) ?? {};
    await setAccount(service.store, { partnerId, environment: "trial" }, { creditLimit: 0n });
    const purchase = await prepareTopUp(service, FIBER, "TRIAL-NET-3M");
    expect(await go(service, purchase, "Sent", [])).toEqual(["Sent", "Confirming", "Refused"]);
  });

  test("takes checkout_unknown for no outcome, however often it comes", async () => {
    const service = await startTestService();
    const purchase = await prepareTopUp(service, FIBER, "TRIAL-NET-3M");
    const way = await go(service, { ...purchase, checkoutId: "A".repeat(64) }, "Sent", []);
    expect([...new Set(way)]).toEqual(["Sent", "Confirming", "Asking"]);
  });

  test("leads to an end that is true where the checkoutId has expired, and asks no more often than it should", async () => {
    const service = await startTestService();
    const purchase = await prepareTopUp(service, FIBER, "TRIAL-NET-3M");
    service.now += 301_000;
    const way = await go(service, purchase, "Asking", []);
    expect(way.slice(-3)).toEqual(["Asking", "AskingOnceMore", "Never"]);
    expect(way.length).toBeLessThan(13);
  });

  test("tells a top-up of another order from this one's, and one that was taken back", async () => {
    const service = await startTestService();
    const purchase = await prepareTopUp(service, FIBER, "TRIAL-NET-3M");
    await service.call("subscription-package-topup", purchase);
    const other = { ...purchase, bouquetId: "TRIAL-NET-1M", amt: "1130" };
    expect(await go(service, other, "Sent", [])).toEqual(["Sent", "Asking", "Another"]);
    // As the client says of a result with other values: nobody knows whose it is.
    expect(arrows.find(({ from }) => from === "Another")?.label).toBe("keep the money, and ask the provider");
    await reverse(service, purchase);
    expect(await go(service, purchase, "Sent", [])).toEqual(["Sent", "Reversed"]);
    expect(await go(service, purchase, "Asking", [])).toEqual(["Asking", "Reversed"]);
  });

  test("never takes a question that is refused for an outcome", async () => {
    const service = await startTestService();
    const purchase = await prepareTopUp(service, FIBER, "TRIAL-NET-3M");
    await service.call("subscription-package-topup", purchase);
    const refused = await service.call("txn-status", purchase, { token: service.liveToken });
    expect(refused.json.body.reason).toBe("checkout_unknown");
    expect(labelOf("Asking", refused, purchase)).toBe("anything else");
    const locked = await service.call("txn-status", purchase, { token: "unknown" });
    expect(labelOf("Asking", locked, purchase)).toBe("anything else");
  });
});

test("llms.txt leads to every page of the documentation, and to nothing that is not there", () => {
  const text = readFileSync(join(ROOT, "docs/llms.txt"), "utf8");
  const links = [...text.matchAll(/\]\(([^)]+)\)/g)].map(([, link = ""]) => link);
  expect(links.filter((link) => !existsSync(join(ROOT, "docs", link)))).toEqual([]);
  const pages = readdirSync(join(ROOT, "docs")).filter((name) => name.endsWith(".md"));
  expect(pages.filter((name) => !links.includes(name))).toEqual([]);
});

type Trial = (service: TestService) => Promise<Answer>;

/** What the guide proposes to try, in the words of its table. */
const TRIALS: Readonly<Record<string, Trial>> = {
  "look up `0000000`": (service) => service.call("get-customer-information", { code: "0000000" }),
  "list for `1000001`, `internet`, `nobody`": (service) =>
    service.call("get-subscription-package", { ...FIBER, reqId: "nobody" }),
  "top up with the price plus one": (service) => topUp(service, { amt: "3221" }),
  "top up with the checkoutId of another connection": (service) => topUp(service, { cuid: "1000002", reqId: "trial2" }),
  "top up twice with the same values": (service) => topUp(service, {}, {}),
  "top up twice with another bouquet": (service) => topUp(service, {}, { bouquetId: "TRIAL-NET-1M", amt: "1130" }),
  "wait for more than five minutes, then top up": async (service) => {
    const purchase = await prepareTopUp(service, FIBER);
    service.now = START + 300_001;
    return service.call("subscription-package-topup", purchase);
  },
  "wait for more than six minutes, then ask txn-status": async (service) => {
    const purchase = await prepareTopUp(service, FIBER);
    service.now = START + 360_001;
    return ask(service, purchase);
  },
};

/** Tops up once for each set of changes, with one and the same checkoutId. @returns the last answer. */
async function topUp(service: TestService, ...changes: readonly object[]): Promise<Answer> {
  const purchase = await prepareTopUp(service, FIBER, "TRIAL-NET-3M");
  const answers: Answer[] = [];
  for (const changed of changes) {
    answers.push(await service.call("subscription-package-topup", { ...purchase, ...changed }));
  }
  return answers.at(-1) as Answer;
}

function ask(service: TestService, { checkoutId }: Readonly<Record<string, string>>): Promise<Answer> {
  return service.call("txn-status", { checkoutId });
}

/** As staff do it. */
function reverse({ ports }: TestService, { checkoutId: id = "" }: Readonly<Record<string, string>>): Promise<unknown> {
  return run(deskOf(ports), reverseTransaction, { id, reason: "a mistake" });
}

function fences(language: string): string[] {
  return readFences(guide)
    .filter((fence) => fence.language === language)
    .map(({ lines }) => lines.join("\n"));
}
