import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
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
  const env = { ...process.env, BASE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, TOKEN };
  const run = () =>
    new Promise<string>((resolve, reject) => {
      execFile(process.execPath, [EXAMPLE, "A-1", "9800000001", "NET-1M"], { cwd, env }, (error, stdout) =>
        error === null ? resolve(stdout) : reject(error),
      );
    });
  return { asked, cwd, run };
}

test("the example tops up, and asks first when it is started again", async () => {
  const result = recorded(bought);
  const { asked, cwd, run } = await place([lookedUp, listed, result, result]);
  expect(await run()).toContain("topped_up: see its status");
  expect(JSON.parse(readFileSync(join(cwd, "order-A-1.json"), "utf8"))).toMatchObject({
    checkoutId: RESULT.orderId,
    amt: "1130",
  });
  const again = await run();
  expect(again).toContain("topped_up: see its status");
  expect(again).toContain(`txnId: '${RESULT.txnId}'`);
  expect(again).toContain("status: 'success'");
  const first = ["get-customer-information", "get-subscription-package", "subscription-package-topup"];
  expect(asked).toEqual([...first, "txn-status"]);
});

test.each([
  ["a refusal", [failure("400aa105")], "refused: give the money back This is connection_blocked."],
  ["never", [failure("400ae001"), failure("400ab108")], "never: give the money back"],
  [
    "what cannot be told",
    [failure("400ae001"), failure("400ab101")],
    "unknown: keep the money, start me again { do: 'ask_provider'",
  ],
])("the example says what to do about %s", async (_, answers, said) => {
  const { run } = await place([lookedUp, listed, ...answers]);
  expect((await run()).replace(/\s+/g, " ")).toContain(said);
});

test("the example has at most thirty lines", () => {
  expect(readFileSync(EXAMPLE, "utf8").trimEnd().split("\n").length).toBeLessThanOrEqual(30);
});
