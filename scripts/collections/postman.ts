import { clearingScript, testScript } from "./checks.ts";
import { POSTMAN } from "./dialect.ts";
import type { Flow, Step } from "./flow.ts";
import type { Introduction } from "./introduction.ts";

const SCHEMA = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json";

/** A Postman collection (format v2.1), as the text of its file. */
export function postmanCollection({ title, description }: Introduction, { settings, steps }: Flow): string {
  const chained = new Set(steps.flatMap(({ gives }) => gives));
  const variables = [...Object.entries(settings), ...[...chained].map((name) => [name, ""] as const)];
  const collection = {
    info: { name: title, description, schema: SCHEMA },
    item: steps.map(item),
    auth: { type: "bearer", bearer: [{ key: "token", value: "{{token}}", type: "string" }] },
    variable: variables.map(([key, value]) => ({ key, value, type: "string" })),
  };
  return `${JSON.stringify(collection, null, 2)}\n`;
}

function item({ name, description, path, body, gives, checks }: Step): object {
  const clearing = clearingScript(gives, POSTMAN);
  return {
    name,
    event: [
      ...(clearing.length === 0 ? [] : [script("prerequest", clearing)]),
      script("test", testScript(checks, POSTMAN)),
    ],
    request: {
      method: "POST",
      header: [{ key: "Content-Type", value: "application/json" }],
      body: { mode: "raw", raw: JSON.stringify(body, null, 2), options: { raw: { language: "json" } } },
      url: { raw: `{{base}}${path}`, host: ["{{base}}"], path: path.split("/").slice(1) },
      description,
    },
    response: [],
  };
}

function script(listen: string, exec: readonly string[]): object {
  return { listen, script: { type: "text/javascript", exec } };
}
