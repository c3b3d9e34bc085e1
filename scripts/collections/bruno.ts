import { clearingScript, testScript } from "./checks.ts";
import { BRUNO } from "./dialect.ts";
import type { Flow, Step } from "./flow.ts";
import type { Introduction } from "./introduction.ts";

/** A Bruno collection: the text of each file by its path. */
export function brunoCollection(introduction: Introduction, { settings, steps }: Flow): ReadonlyMap<string, string> {
  return new Map([
    ["bruno.json", manifest(introduction)],
    ["collection.bru", collection(introduction)],
    ["environments/demo.bru", environment(settings)],
    ...steps.map((step, at) => [`${step.file}.bru`, request(step, at + 1)] as const),
  ]);
}

function manifest({ title }: Introduction): string {
  const settings = { version: "1", name: title, type: "collection", ignore: ["node_modules", ".git"] };
  return `${JSON.stringify(settings, null, 2)}\n`;
}

function collection({ description }: Introduction): string {
  return file(
    block("headers", ["Content-Type: application/json"]),
    block("auth", ["mode: bearer"]),
    block("auth:bearer", ["token: {{token}}"]),
    block("docs", description.split("\n")),
  );
}

/** The token is a secret: Bruno keeps its value beside the collection and never in this file. */
function environment({ token: _, ...open }: Flow["settings"]): string {
  const lines = Object.entries(open).map(([name, value]) => `${name}: ${value}`);
  return `${block("vars", lines)}\nvars:secret [\n  token\n]\n`;
}

function request({ name, description, path, body, gives, checks }: Step, seq: number): string {
  const clearing = clearingScript(gives, BRUNO);
  return file(
    block("meta", [`name: ${name}`, "type: http", `seq: ${seq}`]),
    block("post", [`url: {{base}}${path}`, "body: json", "auth: inherit"]),
    block("body:json", JSON.stringify(body, null, 2).split("\n")),
    ...(clearing.length === 0 ? [] : [block("script:pre-request", clearing)]),
    block("tests", testScript(checks, BRUNO)),
    block("docs", description.split("\n")),
  );
}

function file(...blocks: readonly string[]): string {
  return `${blocks.join("\n\n")}\n`;
}

/** A block ends at the first brace that begins a line: everything in it is indented. */
function block(name: string, lines: readonly string[]): string {
  return [`${name} {`, ...lines.map((line) => (line === "" ? "" : `  ${line}`)), "}"].join("\n");
}
