import { describe, expect, test } from "vitest";
import { doubtAfterTopUp } from "../src/doubt.ts";
import { runConformance } from "../src/index.ts";
import { renderTable } from "../src/render/table.ts";
import { failedIn } from "./support/conformance.ts";
import { CODE, TOKEN } from "./support/fake-data.ts";
import { startSocketServer } from "./support/server.ts";

/* What is not the service's doing is called by its own name. */

const options = { token: TOKEN, code: CODE, versions: ["v1.0.1"] as const };
const NOT_FOUND = "HTTP/1.1 404 Not Found\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: 6\r\n\r\n<html>";

/** What the first check came to, what the checks behind it were skipped for, and what the user is told at the end. */
async function told(answer: string | undefined) {
  const base = await startSocketServer((socket) => {
    if (answer !== undefined) socket.once("data", () => socket.end(answer));
  });
  const report = await runConformance({ ...options, base, timeoutMs: answer === undefined ? 1000 : 60_000 });
  const of = (wanted: string) => report.results.find(({ id }) => id === wanted);
  expect([failedIn(report), report.ok]).toEqual([["lookup-json"], false]);
  return { came: of("lookup-json")?.came, reason: of("lookup-success")?.reason, table: renderTable(report) };
}

describe("what is not the service's doing has a name of its own:", () => {
  test("a web server's page for an address that it does not know", async () => {
    const { came, reason, table } = await told(NOT_FOUND);
    expect(came).toBe("HTTP 404 with an HTML page, not an answer of the interface");
    expect(reason).toBe(`the look-up brought ${came}`);
    expect(table).toContain("A web server answered in place of the service: is --base");
  });

  test("the kit's own time limit", async () => {
    const { came, reason, table } = await told(undefined);
    expect(came).toBe("no whole answer within the kit's own time limit of 1 s");
    expect(reason).toBe(`the look-up brought ${came}`);
    expect(table).toContain("The kit did not wait longer: give the service more time, with --timeout.");
  });

  test("the kit's own time limit for a top-up", () => {
    const problem = "no whole answer within the kit's own time limit of 40 s";
    const silent = { answered: false, connected: true, problem, isTooLarge: false } as const;
    expect(doubtAfterTopUp({ topUp: silent })).toBe(`the top-up had ${problem}`);
    expect(doubtAfterTopUp({ topUp: { ...silent, problem: "the connection ended" } })).toBe(
      "the top-up was not answered",
    );
  });
});
