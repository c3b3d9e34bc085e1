import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { childDriver, type Driver } from "../../../client/test/support/drivers.ts";
import { type ScriptedServer, scriptedServer } from "../../../client/test/support/scripted-server.ts";
import { requestOf, scripted, VECTORS, type Vector } from "../../../client/test/support/vectors.ts";
import { isInstalled } from "../support/installed.ts";
import { readFences } from "../support/markdown.ts";
import { PREFIX } from "../support/service.ts";

/*
 * What the partner's guide shows in other languages, by the vectors of the clients: one call, or all pages of a list.
 */

const guide = readFileSync(new URL("../../../../docs/partner-guide.md", import.meta.url), "utf8");
const code = (language: string) =>
  readFences(guide)
    .filter((fence) => fence.language === language)
    .map(({ lines }) => lines.join("\n"))
    .join("\n");

/** Like the drivers of the clients, with the operation or the list in `with`. */
const PYTHON = `${code("python")}
import sys
waits = []
time.sleep = lambda seconds: waits.append(seconds * 1000)
for text in sys.stdin:
    line = json.loads(text)
    time.time = lambda: line["nowMs"] / 1000
    base, token, values = line["options"]["base"], line["options"]["token"], line["with"]
    waits.clear()
    if "list" in values:
        result = report(base, token, values["list"], values["query"])
    else:
        result = call(base, token, values["operation"], values.get("fields"))
    print(json.dumps({"outcome": {"result": result}, "waitsMs": waits}, default=float), flush=True)
`;
const PHP = `namespace Guide; ${code("php")}
function time() { return $GLOBALS["now"]; }
while (($text = fgets(STDIN)) !== false) {
    $line = json_decode($text, true);
    $now = intdiv($line["nowMs"], 1000);
    ["options" => ["base" => $base, "token" => $token], "with" => $values] = $line;
    $result = call($base, $token, $values["operation"], $values["fields"]);
    echo json_encode(["outcome" => ["result" => $result], "waitsMs" => []]), "\\n";
}`;
/** The library that the guide's receivers use: it accepts the signature "good". */
const STUBS = {
  Python: `
import sys, types
class Webhook:
    def __init__(self, secret): self.secret = secret
    def verify(self, body, headers):
        if (self.secret, headers["webhook-signature"]) != ("whsec_x", "good"): raise ValueError("forged")
sys.modules["standardwebhooks"] = types.ModuleType("standardwebhooks")
sys.modules["standardwebhooks.webhooks"] = types.SimpleNamespace(Webhook=Webhook)
receive("whsec_x", sys.stdin.read(), {"webhook-signature": sys.argv[1]}, lambda *fact: print(*fact))
`,
  PHP: `
namespace StandardWebhooks { class Webhook {
    function __construct(private string $secret) {}
    function verify($body, $headers) {
        if ([$this->secret, $headers["webhook-signature"]] !== ["whsec_x", "good"]) throw new Exception("forged");
        return json_decode($body, true);
    }
} }
namespace Guide {
    function getallheaders() { return ["Webhook-Signature" => $GLOBALS["argv"][1]]; }
    function file_get_contents($of) { return stream_get_contents(STDIN); }
    receive("whsec_x", function ($id, $type, $data) { echo "$id $type $data[amt]"; });
}`,
};

const PROGRAMS = [
  ["Python", ["-c", PYTHON], ["python3", "-c", `${code("python")}${STUBS.Python}`]],
  ["PHP", ["-r", PHP], ["php", "-r", `namespace Guide { ${code("php")} } ${STUBS.PHP}`, "--"]],
] as const;

/** Without answers that come after the time limit, which is too long for a test, and a date that neither language reads. */
const OTHERS = /hang|drip|until no date/;
const CALLS = VECTORS.vectors.filter(
  ({ calls, answers: [first] }) => calls.length > 0 && !OTHERS.test(JSON.stringify(first)),
);

for (const [language, words, [program, ...receiver]] of PROGRAMS) {
  describe.skipIf(!isInstalled(language))(`the guide's code in ${language}`, () => {
    let [server, driver] = [undefined as unknown as ScriptedServer, undefined as unknown as Driver];
    beforeAll(async () => {
      server = await scriptedServer();
      driver = childDriver(language, words);
    });
    afterAll(() => {
      driver.stop();
      server.close();
    });
    const run = async ({ version = "v1.0.1" }: Vector, values: object) => {
      const options = { base: `${server.url}${PREFIX}/${version}`, token: VECTORS.token };
      const { outcome, waitsMs } = await driver.call({ do: "topUp", with: values, options, nowMs: VECTORS.nowMs });
      return { result: outcome["result"], waitsMs };
    };
    const of = (kept: (vector: Vector) => boolean) =>
      CALLS.filter(kept).map((vector) => [vector.name, vector] as const);

    test.each(of((vector) => language === "Python" || !isReport(vector)))("calls once: %s", async (_, vector) => {
      const arrived = server.begin(vector.answers.map(scripted));
      const values = vector.do === undefined ? { ...VECTORS.purchase, ...vector.with } : { ...vector.with };
      const [operation = ""] = vector.calls[0] ?? [];
      const expected = requestOf(vector, operation, values);
      const { result } = await run(vector, { operation, fields: "body" in expected ? expected.body : null });
      expect(arrived).toEqual([expected]);
      // PHP reads {} as [].
      const json = JSON.stringify(resultOf(vector));
      expect(result).toEqual(JSON.parse(language === "PHP" ? json.replaceAll("{}", "[]") : json));
    });

    test.each(of((vector) => language === "Python" && isList(vector)))("lists all: %s", async (_, vector) => {
      const arrived = server.begin(vector.answers.map(scripted));
      const list = vector.calls[0]?.[0].startsWith("partner/top-ups") ? "top-ups" : "account/entries";
      const { result, waitsMs } = await run(vector, { list, query: vector.with });
      expect(arrived).toEqual(vector.calls.map(([operation]) => requestOf(vector, operation, {})));
      expect(waitsMs).toEqual(vector.calls.map(([, waitMs]) => waitMs).filter((waitMs) => waitMs > 0));
      const { value } = vector.outcome as {
        readonly value?: { readonly items: readonly { orderId?: string | null }[] };
      };
      const ids = (items: readonly { orderId?: string | null }[] | undefined) =>
        items?.map(({ orderId = null }) => orderId);
      expect(ids((result as { orderId?: string }[] | null) ?? undefined)).toEqual(ids(value?.items));
    });

    test("receives what is signed, and nothing else", () => {
      const input = '{"id": "recorded_1", "type": "topup.recorded", "data": {"amt": 10.20}}';
      const receive = (signature: string) => spawnSync(program, [...receiver, signature], { input, encoding: "utf8" });
      const data = language === "PHP" ? "10.2" : "{'amt': Decimal('10.20')}";
      expect(receive("good").stdout.trim()).toBe(`recorded_1 topup.recorded ${data}`);
      const { status, stdout } = receive("bad");
      expect([status === 0, stdout.includes("recorded_1")]).toEqual([false, false]);
    });

    test("says nothing if nobody answers", async () => {
      const options = { base: "http://127.0.0.1:1/v1.0.1", token: VECTORS.token };
      const values = { operation: "txn-status", fields: { checkoutId: "x" } };
      const { outcome } = await driver.call({ do: "topUp", with: values, options, nowMs: VECTORS.nowMs });
      expect(outcome["result"]).toBeNull();
    });
  });
}

function isReport({ calls }: Vector): boolean {
  return calls[0]?.[0].startsWith("partner/") === true;
}

/** A list, except those that only its fields show to be wrong: the guide's code reads none. */
function isList(vector: Vector): boolean {
  const { do: action, outcome } = vector;
  return isReport(vector) && action !== "getAccount" && !JSON.stringify(outcome).includes("unreadable");
}

/** What a call returns for the first answer. */
function resultOf({ answers: [first = "close"] }: Vector): object | null {
  const { way, status, headers, body } = scripted(first);
  const json = way === "whole" || way === "inChunks" ? parse(body.toString().replace(/^\u{feff}/u, "")) : undefined;
  if (json?.success !== (status === 200)) return null;
  const wait = headers["retry-after"] ?? "0";
  const seconds = /^\d+$/.test(wait) ? Number(wait) : (Date.parse(wait) - VECTORS.nowMs) / 1000;
  return { ...json, retryAfter: seconds };
}

function parse(text: string): { readonly success?: unknown } | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
