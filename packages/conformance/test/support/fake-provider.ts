import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import { TOKEN } from "./fake-data.ts";
import { type PracticeChange, withFaults } from "./fake-practice.ts";
import type { Answer, Behaviour, Fields } from "./fake-rules.ts";

const OPERATIONS = ["get-customer-information", "get-subscription-package", "subscription-package-topup", "txn-status"];

/** topupd's reports for a partner who has sold nothing. */
const REPORTS: Readonly<Record<string, object>> = {
  "partner/account": { success: true, code: "400ac010", body: { balance: 0 } },
  "partner/top-ups": { success: true, code: "400ac010", body: { items: [], next: null } },
};

export interface Request {
  readonly method: string;
  readonly version: string;
  readonly operation: string;
  /** Whether it has an Authorization header. */
  readonly isAuthorized: boolean;
  /** What it says of compression. */
  readonly encoding: string;
  readonly text: string;
  readonly fields: Fields;
}

export interface FakeOptions extends Omit<Behaviour, "practiceNames"> {
  /** Has topupd's practice customer, with these faults in place of the right ones. */
  readonly practice?: PracticeChange;
  /** Decides as topupd does what the interface leaves open; otherwise it decides something else. */
  readonly isTopupd?: boolean;
  /** Does what it is asked for, and ends the connection in place of the answer. */
  readonly hangsUp?: (request: Request) => boolean;
  /** Takes what it should refuse for this reason. */
  readonly isLenient?: (reason: string, request: Request) => boolean;
  /** Changes an answer that would have been right, before it is sent. */
  readonly rewrite?: (answer: Answer, request: Request) => void;
}

export interface FakeProvider {
  readonly base: string;
  /** Every request so far. */
  readonly requests: readonly Request[];
  /** How many top-ups have been charged. */
  readonly charged: () => number;
  /** Lets so many milliseconds go by for checkoutIds. */
  readonly pass: (ms: number) => void;
}

/** A small service that is right by the interface, in memory, gone after the test. */
export async function startFakeProvider(options: FakeOptions = {}): Promise<FakeProvider> {
  const requests: Request[] = [];
  const rules = withFaults(options);
  const server = createServer((incoming, response) => {
    readText(incoming).then(
      (text) => {
        const [, version = "", operation = ""] =
          /^\/staging\/api\/third-party\/([^/]+)\/(.+)$/.exec(incoming.url ?? "") ?? [];
        const request = {
          method: incoming.method ?? "",
          version,
          operation,
          isAuthorized: incoming.headers.authorization !== undefined,
          encoding: String(incoming.headers["accept-encoding"]),
          text,
          fields: fieldsOf(text),
        };
        requests.push(request);
        const wrong = refusalOf(request, incoming, options.isTopupd === true);
        const reason = wrong !== undefined && options.isLenient?.(wrong, request) === true ? undefined : wrong;
        const ruled = reason === undefined ? rules.run(version, operation, request.fields) : rules.refuse(reason);
        const report = options.isTopupd === true ? REPORTS[operation] : undefined;
        const answer = report === undefined ? ruled : { status: 200, headers: {}, json: structuredClone(report) };
        if (options.isTopupd === true) addRequestId(answer, `fake-${requests.length}`);
        options.rewrite?.(answer, request);
        if (answer.cut === "before" || options.hangsUp?.(request) === true) {
          response.destroy();
          return;
        }
        const body = answer.json === undefined ? "<html></html>" : (answer.text ?? JSON.stringify(answer.json));
        response.writeHead(answer.status, { "content-type": "application/json", ...answer.headers });
        if (answer.cut === "within") response.write(body.slice(0, 20), () => response.destroy());
        else response.end(body);
      },
      () => response.destroy(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  return {
    base: `http://127.0.0.1:${port}/staging/api/third-party/v1.0.1`,
    requests,
    charged: rules.charged,
    pass: rules.pass,
  };
}

async function readText(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

function fieldsOf(text: string): Fields {
  try {
    return JSON.parse(text) as Fields;
  } catch {
    return {};
  }
}

/** What is wrong with a request before anything is looked up, by the name that topupd gives it. */
function refusalOf(
  { method, operation, text, fields }: Request,
  { headers }: IncomingMessage,
  isTopupd: boolean,
): string | undefined {
  if (!OPERATIONS.includes(operation)) return "unknown_operation";
  if (method !== "POST") return "method_not_allowed";
  if (headers.authorization === undefined) return "missing_token";
  if (headers.authorization !== `Bearer ${TOKEN}`) return "unknown_token";
  if (Object.keys(fields).length === 0) return "malformed_json";
  if (!isTopupd) return undefined;
  const keys = [...text.matchAll(/"([^"]+)"\s*:/g)].map(([, key]) => JSON.parse(`"${key}"`));
  if (new Set(keys).size < keys.length) return "malformed_json";
  if (text.length > 4096) return "body_too_large";
  return headers["content-type"] === "application/json" ? undefined : "unsupported_media_type";
}

function addRequestId(answer: Answer, id: string): void {
  answer.headers["x-request-id"] = id;
  if (answer.json?.success === false) answer.json.body.requestId = id;
}
