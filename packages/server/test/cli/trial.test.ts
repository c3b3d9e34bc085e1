import { describe, expect, test } from "vitest";
import { type CommandLine, callOperation, commandLine } from "../support/command-line.ts";

const FIBER = { cuid: "1000001", service: "internet", reqId: "trial1" };

async function trialToken(line: CommandLine): Promise<string> {
  await line.mustRun("partner", "add", "wallet");
  return (await line.mustRun("token", "issue", "--partner", "wallet", "--environment", "trial")).trim();
}

describe("topupd trial reset", () => {
  test("sets up the trial environment beside a service that is running, and puts it back again", async () => {
    const line = commandLine();
    const token = await trialToken(line);
    const { url } = await line.start("serve");
    const call = async (operation: string, body: object) => (await callOperation(url, operation, token, body)).json;
    expect((await call("get-subscription-package", FIBER)).code).toBe("400aa101");

    expect(await line.run("trial", "reset")).toEqual({
      code: 0,
      stdout: "",
      stderr: "The trial environment is in its first state: customers 1000001 to 1000005.\n",
    });
    const first = (await call("get-subscription-package", FIBER)).body;
    const purchase = { ...FIBER, checkoutId: first.checkoutId, bouquetId: "TRIAL-NET-12M", amt: "11520" };
    expect((await call("subscription-package-topup", purchase)).code).toBe("400ab001");
    const [bought] = (await call("get-subscription-package", FIBER)).body.internet.subscriptions;
    expect(bought.code).toBe("TRIAL-NET-12M");

    await line.mustRun("trial", "reset");
    const [again] = (await call("get-subscription-package", FIBER)).body.internet.subscriptions;
    expect(again.code).toBe("TRIAL-NET-1M");
    expect((await call("txn-status", { checkoutId: first.checkoutId })).body.result.bouquetId).toBe("TRIAL-NET-12M");
    expect((await line.run("check")).code).toBe(0);
  });
});
