import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openWith } from "../../campaign/door-services.ts";
import { doors } from "../../campaign/doors.ts";
import type { buildApp } from "../../src/partner/app.ts";

/*
 * Each test puts one fault into a copy of the fast door's source. The campaign's generated requests must find it.
 */

const HTTP = new URL("../../src/partner/", import.meta.url);
const FILES = ["plain-http", "fast-door", "app"] as const;
type File = (typeof FILES)[number];

const ROUNDS = 3_000;

/** Faults: file, text, and its replacement. */
const FAULTS: readonly (readonly [fault: string, file: File, from: string, to: string])[] = [
  ["takes a repeated header", "plain-http", "fields.has(name) ||", "false ||"],
  [
    "takes a repeated Content-Length",
    "plain-http",
    "fields.has(name)",
    'fields.has(name) && name !== "content-length"',
  ],
  ["takes a request without Host", "plain-http", 'fields.has("host") &&', ""],
  ["takes a repeated Host", "plain-http", "fields.has(name)", 'fields.has(name) && name !== "host"'],
  ["takes a repeated Authorization", "plain-http", "fields.has(name)", 'fields.has(name) && name !== "authorization"'],
  ["ignores Transfer-Encoding", "plain-http", '  "transfer-encoding",\n', ""],
  ["ignores Content-Encoding", "plain-http", '  "content-encoding",\n', ""],
  ["ignores Expect", "plain-http", '  "expect",\n', ""],
  ["ignores Upgrade", "plain-http", '  "upgrade",\n', ""],
  ["ignores Connection: close", "plain-http", "/^keep-alive$/i.test(", "/^/.test("],
  ["takes a bare line feed", "plain-http", 'head.split("\\r\\n")', "head.split(/\\r?\\n/)"],
  ["takes HTTP/1.0", "plain-http", "HTTP\\/1\\.1$/", "HTTP\\/1\\.\\d$/"],
  ["takes control characters", "plain-http", "(?:[\\t -~]*[!-~])", "(?:[^]*[!-~])"],
  ["takes a tab after a length", "plain-http", ") *$/", ")\\s*$/"],
  ["takes a signed length", "plain-http", "/^[1-9][0-9]{0,3}$/", "/^\\+?[1-9][0-9]{0,3}$/"],
  ["takes a body that is too long", "plain-http", "<= BODY_MAX_BYTES", "<= BODY_MAX_BYTES + 1"],
  ["takes more bytes than the request", "fast-door", "=== text.length ? head", "<= text.length ? head"],
  ["takes less bytes than the request", "fast-door", "=== text.length ? head", ">= text.length ? head"],
  ["reads a body as Latin-1", "fast-door", "isAscii(this.#bytes) ?", "true ?"],
  [
    "answers twice",
    "fast-door",
    "this.#lane.write(this, answer, isLast);",
    'this.#lane.write(this, answer, isLast), this.#lane.socket.write("HTTP/1.1 200 OK\\r\\n\\r\\n");',
  ],
  ["loses bytes that it hands over", "fast-door", 'socket.emit("data", bytes);', ""],
  ["loses bytes that wait", "fast-door", "this.#receive(held.bytes, held.at);", ""],
  ["trusts a head that was accepted before", "fast-door", "this.options.pipeline.admit(call, operation);", "TRUSTING"],
  ["forgets from where a request comes", "fast-door", "this.head.forwardedFor", "undefined"],
];

/** Skips the token check if the head is remembered. */
const TRUSTING = `
    const callers = ((this as any).callers ??= new Map());
    const caller = callers.get(call.token);
    if (caller !== undefined) {
      call.caller = caller;
      call.receive();
      return;
    }
    const receive = call.receive;
    call.receive = () => {
      callers.set(call.token, call.caller);
      receive.call(call);
    };
    this.options.pipeline.admit(call, operation);`;

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "topupd-mutants-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Loads the app with a copy of the fast door. */
async function loadApp(name: string, change?: { file: File; from: string; to: string }): Promise<typeof buildApp> {
  mkdirSync(join(folder, name));
  for (const file of FILES) {
    let source = readFileSync(new URL(`${file}.ts`, HTTP), "utf8");
    if (change?.file === file) {
      expect(source.split(change.from), `${change.from} stands once in ${file}.ts`).toHaveLength(2);
      source = source.replace(change.from, () => change.to.replace("TRUSTING", () => TRUSTING));
    }
    const isCopied = (path: string) => FILES.some((each) => path === `./${each}.ts`);
    const imports = /(?<=from ")\.{1,2}\/[^"]+/g;
    source = source.replace(imports, (path) => (isCopied(path) ? path : fileURLToPath(new URL(path, HTTP))));
    writeFileSync(join(folder, name, `${file}.ts`), source);
  }
  return (await import(/* @vite-ignore */ pathToFileURL(join(folder, name, "app.ts")).href)).buildApp;
}

describe("a fault of the fast door is found: it", () => {
  test.each(FAULTS.map((fault, index) => [...fault, index] as const))("%s", async (_fault, file, from, to, index) => {
    const build = await loadApp(`fault-${index}`, { file, from, to });
    const campaign = doors({ seed: 12, rounds: ROUNDS, open: [openWith(false), openWith(true, build)] });
    await expect(campaign).rejects.toThrow(/^case \d+ of seed 12: /);
  });

  test("and the copy without a fault has none", async () => {
    const build = await loadApp("unchanged");
    const campaign = doors({ seed: 1, rounds: 600, open: [openWith(false), openWith(true, build)] });
    await expect(campaign).resolves.toMatch(/[1-9]\d* by the fast door/);
  });
});
