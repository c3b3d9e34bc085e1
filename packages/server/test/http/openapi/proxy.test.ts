import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { documentOf } from "../../support/contract.ts";
import { recordFlow } from "../../support/recorded-flow.ts";
import { PREFIX, startTestService, temporaryFolder } from "../../support/service.ts";
import { tool } from "../../support/tools.ts";

const PRISM = tool("@stoplight/prism-cli/dist/index.js");

interface Violation {
  readonly location: readonly string[];
  readonly message: string;
}

test.each(["v1.0.1", "v1.0.0"] as const)(
  "a validating proxy finds nothing wrong with the answers of the whole flow in %s",
  async (version) => {
    const service = await startTestService();
    await service.app.listen({ host: "127.0.0.1", port: 0 });
    const { port } = service.app.server.address() as { port: number };
    const proxied = await startProxy(documentOf(version), `http://127.0.0.1:${port}${PREFIX}/${version}`);

    const exchanges = await recordFlow(service, async (operation, body, token = service.trialToken) => {
      const response = await fetch(`${proxied}/${operation}`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      return { status: response.status, headers: Object.fromEntries(response.headers), json: await response.json() };
    });

    expect(exchanges.length).toBeGreaterThan(20);
    for (const { title, response } of exchanges) {
      const violations = JSON.parse((response.headers["sl-violations"] as string | undefined) ?? "[]") as Violation[];
      const { code } = response.body as { readonly code: string };
      // The proxy refuses what the service refuses, and nothing else.
      if (code === "400ad002") expect(violations.length, title).toBeGreaterThan(0);
      else expect(violations, title).toEqual([]);
      expect(violations.filter(({ location }) => location[0] !== "request")).toEqual([]);
    }
  },
);

test("the validating proxy finds an answer that is not in the document", async () => {
  const service = await startTestService();
  await service.app.listen({ host: "127.0.0.1", port: 0 });
  const { port } = service.app.server.address() as { port: number };
  const text = JSON.stringify(documentOf("v1.0.1")).replaceAll('"first_name"', '"given_name"');
  const proxied = await startProxy(JSON.parse(text), `http://127.0.0.1:${port}${PREFIX}/v1.0.1`);
  const response = await fetch(`${proxied}/get-customer-information`, {
    method: "POST",
    headers: { authorization: `Bearer ${service.trialToken}`, "content-type": "application/json" },
    body: '{"code":"1000001"}',
  });
  expect(response.headers.get("sl-violations")).toContain("given_name");
});

/** @returns the address at which the proxy listens. */
async function startProxy(document: unknown, upstream: string): Promise<string> {
  const path = join(temporaryFolder(), "openapi.json");
  writeFileSync(path, JSON.stringify(document));
  const port = await freePort();
  const proxy = spawn(process.execPath, [PRISM, "proxy", path, upstream, "--port", String(port)], {
    env: { ...process.env, NO_COLOR: "1" },
  });
  const ended = once(proxy, "exit");
  onTestFinished(async () => {
    proxy.kill();
    await ended;
  });
  let printed = "";
  await new Promise<void>((resolve, reject) => {
    const hear = (chunk: Buffer) => {
      printed += chunk;
      if (printed.includes("is listening")) resolve();
    };
    proxy.stdout.on("data", hear);
    proxy.stderr.on("data", hear);
    void ended.then(() => reject(new Error(`the proxy ended: ${printed}`)));
  });
  return `http://127.0.0.1:${port}`;
}

/** Prism has to be told a port. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, "close");
  return port;
}
