import { execFile, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { readFences } from "../support/markdown.ts";
import { partnersOf } from "../support/partners.ts";
import { fill } from "../support/reports.ts";
import { PREFIX, startTestService } from "../support/service.ts";

/* What the partner's guide shows in other languages, as partners run it. */

const guide = readFileSync(new URL("../../../../docs/partner-guide.md", import.meta.url), "utf8");

const LANGUAGES = {
  python: [
    "python3",
    (block: string) =>
      `${block}\nimport os\nbase, token = os.environ["BASE"], os.environ["TOKEN"]\n` +
      'for where in (base, base + "/nowhere", "http://127.0.0.1:1"):\n' +
      '    print(json.dumps(call(where, token, "txn-status", {"checkoutId": "x"})))',
    "-c",
  ],
  php: [
    "php",
    (block: string) =>
      `${block}\nforeach ([getenv("BASE"), getenv("BASE") . "/nowhere", "http://127.0.0.1:1"] as $where)\n` +
      '  echo json_encode(call($where, getenv("TOKEN"), "txn-status", ["checkoutId" => "x"])), "\\n";',
    "-r",
  ],
} as const;

test("gets all pages of a list in Python", async () => {
  if (spawnSync("python3", ["--version"]).status !== 0) return;
  const service = await startTestService();
  await service.app.listen({ host: "127.0.0.1", port: 0 });
  const partnerId = (await partnersOf(service.store).find("wallet"))?.id ?? 0;
  const txnIds = await fill(service, partnerId, service.now, 201);
  const { port } = service.app.server.address() as { port: number };
  const env = { ...process.env, TOKEN: service.trialToken, BASE: `http://127.0.0.1:${port}${PREFIX}` };
  const block =
    readFences(guide)
      .filter(({ language }) => language === "python")[1]
      ?.lines.join("\n") ?? "";
  const show = `import os\nfor name in ("top-ups", "account/entries"):
    print(json.dumps([item["txnId"] for item in report(os.environ["BASE"], os.environ["TOKEN"], name, "2026-11-20")]))`;
  const { stdout } = await promisify(execFile)("python3", ["-c", `${block}\n${show}`], { env });
  expect(
    stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line)),
  ).toEqual([txnIds, txnIds]);
});

test.each(Object.entries(LANGUAGES))("reads the body of a failure in %s", async (language, [program, of, flag]) => {
  if (spawnSync(program, ["--version"]).status !== 0) {
    process.stderr.write(`SKIPPED: the partner's guide in ${language}, since ${program} is not here\n`);
    return;
  }
  const service = await startTestService();
  await service.app.listen({ host: "127.0.0.1", port: 0 });
  const { port } = service.app.server.address() as { port: number };
  const env = { ...process.env, TOKEN: service.trialToken, BASE: `http://127.0.0.1:${port}${PREFIX}/v1.0.1` };
  const block =
    readFences(guide)
      .find((fence) => fence.language === language)
      ?.lines.join("\n") ?? "";
  const { stdout } = await promisify(execFile)(program, [flag, of(block)], { env });
  const [unknown, nowhere, nobody] = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(unknown).toMatchObject({ success: false, body: { reason: "checkout_unknown", retry: "fix_request" } });
  expect(nowhere.body.reason).toBe("unknown_operation");
  expect(nobody).toBeNull();
});
