import { describe, expect, test } from "vitest";
import { runConformance, ServiceUnreachable } from "../src/index.ts";
import { type Outgoing, send } from "../src/send.ts";
import { check, failedIn } from "./support/conformance.ts";
import { CODE, TOKEN } from "./support/fake-data.ts";
import type { Request } from "./support/fake-provider.ts";
import { freeUrl, startSocketServer } from "./support/server.ts";

const OPTIONS = { token: TOKEN, code: CODE, timeoutMs: 60_000 };
const OK = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";
const TOP_UP = "subscription-package-topup";

function requestTo(base: string, timeoutMs: number): Outgoing {
  return { method: "POST", url: new URL(base), headers: {}, body: "{}", timeoutMs, maxBytes: 1000 };
}

describe("a service that cannot be reached", () => {
  test("is not judged", async () => {
    const base = await freeUrl();
    await expect(runConformance({ ...OPTIONS, base })).rejects.toThrow(ServiceUnreachable);
    await expect(runConformance({ ...OPTIONS, base })).rejects.toThrow(`${new URL(base).origin} cannot be reached`);
  });
});

describe("a service that answers badly", () => {
  test.each([
    ["ends the connection", "", "the connection"],
    ["ends it within the headers", "HTTP/1.1 200 OK\r\nConte", "the connection failed"],
    ["ends it within the body", `${OK}Content-Length: 100\r\n\r\n{"success":`, "the connection ended within an answer"],
    ["speaks no HTTP", "220 mail.example ESMTP\r\n", "the connection failed"],
    ["sends no JSON", `${OK}Content-Length: 5\r\n\r\n<html`, "HTTP 200 with no JSON"],
    ["sends nothing in its body", `${OK}Content-Length: 0\r\n\r\n`, "HTTP 200 with no JSON"],
    ["sends bytes that are no UTF-8", Buffer.from(`${OK}Content-Length: 5\r\n\r\n"\xff\xfe\xfd"`, "latin1"), "no JSON"],
    ["sends an array", `${OK}Content-Length: 2\r\n\r\n[]`, "HTTP 200 with an array of 0"],
    [
      "redirects",
      "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n",
      "HTTP 302 with no JSON",
    ],
  ])("fails, and is not asked for more than a look-up: it %s", async (_, answer, came) => {
    const base = await startSocketServer((socket) => {
      socket.once("data", () => socket.end(answer));
    });
    const report = await runConformance({ ...OPTIONS, base, topUp: true });
    expect(failedIn(report)).toEqual(["lookup-json"]);
    expect(report.results.find(({ id }) => id === "lookup-json")?.came).toContain(came);
    expect(report.unjudged).toContain("v1.0.1 listing-json");
  });

  test("is right to end an answer with the connection", async () => {
    const answer = '{"success": true, "code": "400aa010", "body": {"customer": 7}}';
    const base = await startSocketServer((socket) => {
      socket.once("data", () => socket.end(`${OK}\r\n${answer}`));
    });
    expect(failedIn(await runConformance({ ...OPTIONS, base }))).toEqual(["customer-object", "connections-place"]);
  });

  test("is given up after its time", async () => {
    const base = await startSocketServer(() => {});
    const exchange = await send(requestTo(base, 50));
    expect(exchange).toMatchObject({
      answered: false,
      problem: "no whole answer within the kit's own time limit of 0.05 s",
    });
  });

  test("is given up after its time although bytes keep coming", async () => {
    const base = await startSocketServer((socket) => {
      socket.write(`${OK}Transfer-Encoding: chunked\r\n\r\n`);
      const timer = setInterval(() => socket.write("1\r\n \r\n"), 5);
      socket.once("close", () => clearInterval(timer));
    });
    const exchange = await send(requestTo(base, 100));
    expect(exchange).toMatchObject({
      answered: false,
      problem: "no whole answer within the kit's own time limit of 0.1 s",
    });
  });

  test("is cut off when it does not stop sending", async () => {
    const base = await startSocketServer((socket) => {
      socket.write(`${OK}Transfer-Encoding: chunked\r\n\r\n`);
      const more = () => {
        while (!socket.destroyed && socket.write(`10000\r\n${" ".repeat(65_536)}\r\n`));
      };
      socket.on("drain", more);
      more();
    });
    const report = await runConformance({ ...OPTIONS, base });
    expect([failedIn(report), report.ok]).toEqual([[], false]);
    expect(report.results.find(({ id }) => id === "lookup-json")?.reason).toBe("an answer of more than 4194304 bytes");
  });

  test("does not get at what every object inherits", async () => {
    const { report } = await check({
      rewrite: (answer) => {
        answer.json = JSON.parse('{"success": true, "code": "400aa010", "__proto__": {"body": {}}}');
      },
    });
    expect(failedIn(report)).toEqual(["lookup-body"]);
  });

  test("does not end the run with an answer nested without end", async () => {
    const deep = 50_000;
    const text = `{"success":true,"code":"400aa010","body":{"customer":${'{"connections":'.repeat(deep)}1${"}".repeat(deep)}}}`;
    const base = await startSocketServer((socket) => {
      socket.once("data", () => socket.end(`${OK}Content-Length: ${text.length}\r\n\r\n${text}`));
    });
    const report = await runConformance({ ...OPTIONS, base, profile: "topupd" });
    expect(failedIn(report)).toEqual(expect.arrayContaining(["customer-cuid", "versions-same-customer"]));
  });

  test.each([
    ["get-subscription-package", ["listing-json"]],
    // A broken query cannot tell that the token is one-time either, and the query is blamed for it.
    ["txn-status", ["txn-status-unused", "txn-status-json"]],
    [TOP_UP, ["topup-json"]],
  ])("in %s alone is judged in all the rest", async (operation, caught) => {
    const { report } = await check({ hangsUp: (request) => request.operation === operation }, { topUp: true });
    const held = report.results.filter(({ outcome }) => outcome === "holds").map(({ id }) => id);
    expect(held).toEqual(expect.arrayContaining(["lookup-code", "connections-place", "lookup-by-stb"]));
    expect(failedIn(report)).toEqual(caught);
  });

  test("is not sent a top-up a second time when the first is not answered", async () => {
    const hangsUp = ({ operation }: Request) => operation === TOP_UP;
    const { report, provider } = await check({ hangsUp }, { topUp: true, versions: ["v1.0.1"] });
    expect(report.ok).toBe(false);
    expect(provider.charged()).toBe(1);
    expect(provider.requests.filter(hangsUp).length).toBe(1);
    expect(report.notes.map(({ text }) => text)).toEqual([
      expect.stringContaining("it was made, and paid for"),
      expect.stringContaining(
        "Check the payments: they may exceed the announced amount, because the top-up was not answered.",
      ),
    ]);
  });

  test("is not blamed for a second transaction when the query after it is not answered", async () => {
    let topUps = 0;
    const hangsUp = ({ operation }: Request) => {
      if (operation === TOP_UP) topUps += 1;
      return operation === "txn-status" && topUps === 2;
    };
    const { report } = await check({ hangsUp }, { topUp: true, versions: ["v1.0.1"] });
    expect([failedIn(report), report.ok]).toEqual([[], false]);
    expect(report.unjudged).toEqual(["v1.0.1 checkout-one-time"]);
  });

  test("fails as it likes, and only that is told", async () => {
    const { report } = await check({
      rewrite: (answer) => {
        Object.assign(answer, { status: 503, json: { error: "down" } });
      },
    });
    expect(failedIn(report)).toEqual(["lookup-success"]);
  });

  test("is sent no other top-up when one that it should refuse is not answered", async () => {
    const hangsUp = ({ operation }: Request) => operation === TOP_UP;
    const options = { topUp: true, versions: ["v1.0.1"], profile: "topupd" } as const;
    const { report, provider } = await check({ hangsUp, isTopupd: true, takesAnyAmount: true }, options);
    expect(failedIn(report)).toEqual(["amount-mismatch", "refusals-use-nothing"]);
    expect([provider.charged(), provider.requests.filter(hangsUp).length]).toEqual([1, 1]);
  });
});
