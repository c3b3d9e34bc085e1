import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { failure, RESULT, type Reply, recorded, reply, TOKEN } from "./support/wire.ts";

/* The example as partners run it: on its own, and on the package as it is built. */

const EXAMPLE = fileURLToPath(new URL("../examples/top-up.mjs", import.meta.url));
const PROFILE = { cuid: "1000001", first_name: "Asha", last_name: "Trial", status: "active" };
const CONNECTION = { username: "trial1", status: "active" };
const connections = { tv: [], internet: [CONNECTION], iptv: [] };
const listing = { connection: CONNECTION, subscriptions: [], bouquets: [{ code: "NET-1M", name: "Net", price: 1130 }] };

const lookedUp = reply(200, { success: true, code: "400aa010", body: { customer: { ...PROFILE, connections } } });
const listed = reply(200, {
  success: true,
  code: "400aa010",
  body: { checkoutId: RESULT.orderId, customer: PROFILE, internet: listing },
});
const PURCHASE_OF_EXAMPLE = {
  cuid: "1000001",
  service: "internet",
  reqId: "trial1",
  checkoutId: RESULT.orderId,
  bouquetId: "NET-1M",
  amt: "1130",
};
const bought = { cuid: "1000001", reqId: "trial1", service: "internet", bouquetId: "NET-1M", amt: 1130 };

/** Starts a deployment that answers in turn, and a folder in which the example is run. */
async function place(answers: readonly Reply[]) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const { status, headers, text } = answers[asked.length] ?? failure("400ae001");
    asked.push(request.url?.split("/").at(-1) ?? "");
    request.resume().on("end", () => response.writeHead(status, { ...headers, connection: "close" }).end(text));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const cwd = mkdtempSync(join(tmpdir(), "topupd-example-"));
  onTestFinished(() => {
    server.close();
    rmSync(cwd, { recursive: true, force: true });
  });
  // What is done to files, in order, since no test can cut the power.
  const done = join(cwd, "done.log");
  const watch = `import fs from "node:fs"; import { syncBuiltinESMExports } from "node:module";
    const note = (what) => fs.appendFileSync(${JSON.stringify(done)}, what + " ");
    const { renameSync, fsyncSync, fetch } = { ...fs, fetch: globalThis.fetch };
    fs.renameSync = (...names) => { renameSync(...names); note("rename"); };
    fs.fsyncSync = (fd) => { fsyncSync(fd); if (fs.fstatSync(fd).isDirectory()) note("flush-folder"); };
    globalThis.fetch = (...request) => { note("send"); return fetch(...request); };
    syncBuiltinESMExports();`;
  const NODE_OPTIONS = `--import data:text/javascript,${encodeURIComponent(watch)}`;
  const env = {
    ...process.env,
    NODE_OPTIONS,
    BASE: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1.0.1`,
    TOKEN,
  };
  const run = () =>
    new Promise<string>((resolve, reject) => {
      execFile(process.execPath, [EXAMPLE, "A-1", "9800000001", "NET-1M"], { cwd, env }, (error, stdout) =>
        error === null ? resolve(stdout) : reject(error),
      );
    });
  return { asked, cwd, run, done: () => readFileSync(done, "utf8").trim() };
}

test("the example tops up, and asks first when it is started again", async () => {
  const result = recorded(bought);
  const { asked, cwd, run } = await place([lookedUp, listed, result, result]);
  const once = await run();
  expect(once).toContain("outcome: 'topped_up'");
  expect(JSON.parse(readFileSync(join(cwd, "order-A-1.json"), "utf8"))).toMatchObject({
    purchase: { checkoutId: RESULT.orderId, amt: "1130" },
    done: { outcome: "topped_up" },
  });
  const again = await run();
  expect(again).toContain("outcome: 'topped_up'");
  expect(again).toContain(`txnId: '${RESULT.txnId}'`);
  expect(again).toContain("status: 'success'");
  const first = ["get-customer-information", "get-subscription-package", "subscription-package-topup"];
  // What has ended is not asked about again.
  expect(asked).toEqual(first);
});

test.skipIf(process.platform === "win32")(
  "the example has its order and its outcome on disk before it goes on",
  async () => {
    const { run, done } = await place([lookedUp, listed, recorded(bought)]);
    await run();
    expect(done()).toBe("send send rename flush-folder send rename flush-folder");
  },
);

test("the example asks first when it was stopped after it had saved the order", async () => {
  const { asked, cwd, run } = await place([recorded(bought)]);
  writeFileSync(join(cwd, "order-A-1.json"), JSON.stringify({ purchase: PURCHASE_OF_EXAMPLE }));
  expect(await run()).toContain("outcome: 'topped_up'");
  expect(asked).toEqual(["txn-status"]);
});

test("the example does not top up an order that was refused, even if it would be taken now", async () => {
  const { asked, run } = await place([lookedUp, listed, failure("400aa105"), failure("400ab107"), recorded(bought)]);
  expect(await run()).toContain("outcome: 'refused'");
  expect(await run()).toContain("outcome: 'refused'");
  expect(asked).toHaveLength(4);
});

test("the example asks again about an order of which nothing is known", async () => {
  const { asked, run } = await place([lookedUp, listed, failure("400ae001"), failure("400ab101"), recorded(bought)]);
  expect(await run()).toContain("do: 'ask_provider'");
  expect(await run()).toContain("outcome: 'topped_up'");
  expect(asked.slice(-2)).toEqual(["txn-status", "txn-status"]);
});

test("the example tops nothing up where the customer or the packages are not to be had", async () => {
  for (const answers of [[failure("400aa101")], [lookedUp, failure("400aa105")]]) {
    const { asked, run } = await place(answers);
    await expect(run()).rejects.toThrow("This is ");
    expect(asked).not.toContain("subscription-package-topup");
  }
});

test("the example tops up a customer who has no internet connection", async () => {
  const tv = { stb: "0001", status: "active" };
  const customer = { ...PROFILE, connections: { tv: [tv], internet: [], iptv: [] } };
  const television = { ...listing, connection: tv };
  const { asked, cwd, run } = await place([
    reply(200, { success: true, code: "400aa010", body: { customer } }),
    reply(200, {
      success: true,
      code: "400aa010",
      body: { checkoutId: RESULT.orderId, customer: PROFILE, tv: television },
    }),
    recorded({ ...bought, service: "tv", reqId: "0001" }),
  ]);
  expect(await run()).toContain("outcome: 'topped_up'");
  expect(asked.at(-1)).toBe("subscription-package-topup");
  expect(JSON.parse(readFileSync(join(cwd, "order-A-1.json"), "utf8"))).toMatchObject({
    purchase: { service: "tv", reqId: "0001" },
  });
});

test("the example says so if there is no connection or no such bouquet", async () => {
  const none = { ...PROFILE, connections: { tv: [], internet: [], iptv: [] } };
  const alone = await place([reply(200, { success: true, code: "400aa010", body: { customer: none } })]);
  await expect(alone.run()).rejects.toThrow("The customer has no connection.");
  const other = { ...listing, bouquets: [{ code: "NET-3M", name: "Net", price: 3220 }] };
  const body = { checkoutId: RESULT.orderId, customer: PROFILE, internet: other };
  const sold = await place([lookedUp, reply(200, { success: true, code: "400aa010", body })]);
  await expect(sold.run()).rejects.toThrow("NET-1M is not on sale for this internet connection.");
});
