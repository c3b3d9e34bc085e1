import { appendFileSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { ROUTES } from "../../src/faces/staff-api/routes.ts";
import { prepareTopUp } from "../support/service.ts";
import { type StaffAnswer, type StaffApi, startStaffApi } from "../support/staff-api.ts";
import { expectTranscript } from "../support/transcript.ts";
import { customer } from "../support/world.ts";

/*
 * What every route of the staff API answers. `METHOD PATH BODY` is a request by an admin's key, `as NAME ...` one by the
 * session of a person; `< FILE` sends a file. `wait ...` asks until nothing is under way. `at TIME` sets the clock, `buy
 * CUID BOUQUET UDF1` tops up as a partner, `person NAME ROLE` adds one, `>> FILE LINE` adds a line to a file.
 */

const FOLDER = fileURLToPath(new URL("transcripts/", import.meta.url));
const CATALOGUE = [
  { service: "internet", code: "NET-1M", name: "Fiber 100 (MONTHLY)", price: 1130 },
  { service: "internet", code: "NET-3M", name: "Fiber 100 (QUARTERLY)", price: "3220.50" },
];

async function play(api: StaffApi, line: string): Promise<string> {
  const [verb = "", first = "", ...words] = line.split(" ");
  if (verb === "at") api.service.now = Date.parse(first);
  else if (verb === "buy") return buy(api, first, ...words);
  else if (verb === "person") await api.addPerson(first, words[0] as "admin");
  else if (verb === ">>") appendFileSync(join(api.folder, first), `${words.join(" ")}\n`);
  else if (verb === "as") return said(await ask(api, words, { session: await api.logIn(first) }));
  else if (verb === "wait") {
    const isOver = ({ json }: StaffAnswer) => !/ing$/.test(json.state ?? "");
    await expect.poll(async () => isOver(await ask(api, [first, ...words]))).toBe(true);
    return said(await ask(api, [first, ...words]));
  } else return said(await ask(api, [verb, first, ...words]));
  return "";
}

function ask(api: StaffApi, [method, path, ...rest]: readonly string[], as: "admin" | { session: string } = "admin") {
  const [sign, file = ""] = rest;
  if (sign !== "<")
    return api.call(`${method} ${path}`, { as, ...(sign !== undefined && { body: JSON.parse(rest.join(" ")) }) });
  const headers = { "content-type": file.endsWith(".csv") ? "text/csv" : "application/x-ndjson" };
  return api.call(`${method} ${path}`, { as, headers, body: readFileSync(join(api.folder, file), "utf8") });
}

async function buy({ service }: StaffApi, cuid: string, bouquet?: string, udf1?: string): Promise<string> {
  const options = { token: service.liveToken };
  const purchase = await prepareTopUp(service, { cuid, service: "internet", reqId: `net-${cuid}` }, bouquet, options);
  const { json } = await service.call("subscription-package-topup", { ...purchase, ...(udf1 && { udf1 }) }, options);
  return `${json.body.result.txnId}\n`;
}

function said({ status, json, text }: StaffAnswer): string {
  if (json === undefined) return `${`${status} ${text.replaceAll("\r\n", "\n")}`.trimEnd()}\n`;
  // Every problem has these two besides.
  const { type: _, title: __, ...problem } = json;
  const body = status < 400 ? pretty(json) : JSON.stringify(problem);
  // The size of the disk is the machine's.
  return `${status} ${body.replace(/"space":\{[^}]*\}/, '"space":{}')}\n`;
}

/** JSON with a line for each item of its lists. */
function pretty(value: object): string {
  const parts = Object.entries(value).map(([name, part]) => {
    const isList = Array.isArray(part) && typeof part[0] === "object";
    const items = isList
      ? `[\n${part.map((item) => `  ${JSON.stringify(item)}`).join(",\n")}\n]`
      : JSON.stringify(part);
    return `"${name}":${items}`;
  });
  return `{${parts.join(",")}}`;
}

const files = readdirSync(FOLDER);
const played: string[] = [];

test.each(files)("%s", async (file) => {
  const api = await startStaffApi();
  await api.service.importCatalogue(CATALOGUE);
  await api.service.importCustomers(["1", "2"].map((cuid) => customer(cuid, { end: "2026-12-10 10:00:00" })));
  played.push(...(await expectTranscript(join(FOLDER, file), (line) => play(api, line))));
});

test("a transcript has every route", () => {
  const isPlayed = ({ method, path }: (typeof ROUTES)[number]) => {
    const asked = new RegExp(`(?:^| )${method} ${path.replace(/:\w+/g, "[^/ ?]+").replace(".", "\\.")}(?:[? ]|$)`);
    return played.some((line) => asked.test(line));
  };
  expect(ROUTES.filter((route) => !isPlayed(route)).map(({ method, path }) => `${method} ${path}`)).toEqual([]);
});
