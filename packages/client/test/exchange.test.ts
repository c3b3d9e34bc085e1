import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { inspect } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { type ClientOptions, createClient } from "../src/index.ts";
import { asResponse } from "./support/scripted.ts";
import { BASE, failure, otherFailure, PREFIX, PURCHASE, page, recorded, reply, TOKEN } from "./support/wire.ts";

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Asks for a transaction at a server that answers so. */
async function ask(
  listener: RequestListener,
  { version = "v1.0.1", ...options }: Partial<ClientOptions> & { readonly version?: string } = {},
) {
  const origin = await serve(listener);
  return createClient({ base: `${origin}${PREFIX}/${version}`, token: TOKEN, ...options }).queryTransaction(
    PURCHASE.checkoutId,
  );
}

const body = recorded().text;
const JSON_HEAD = { "content-type": "application/json" };

describe("over a real connection", () => {
  test.each(["v1.0.1", "v1.0.0"] as const)("a request of %s is as the interface says", async (version) => {
    const requests: IncomingMessage[] = [];
    let sent = "";
    const answer = await ask(
      (incoming, response) => {
        requests.push(incoming);
        incoming.setEncoding("utf8").on("data", (chunk: string) => {
          sent += chunk;
        });
        incoming.on("end", () => response.writeHead(200, JSON_HEAD).end(body));
      },
      { version },
    );
    expect(answer.ok).toBe(true);
    const [request] = requests;
    expect(request?.method).toBe("POST");
    expect(request?.url).toBe(`${PREFIX}/${version}/txn-status`);
    expect(request?.headers).toMatchObject({ authorization: `Bearer ${TOKEN}`, ...JSON_HEAD });
    expect(JSON.parse(sent)).toEqual({ checkoutId: PURCHASE.checkoutId });
  });

  test("an answer in many pieces, split inside a character, is read", async () => {
    const bytes = Buffer.from(recorded({ txnDate: "2026-11-20 08:44:54 – ₹" }).text);
    const answer = await ask((_, response) => {
      response.writeHead(200, JSON_HEAD);
      for (const byte of bytes) response.write(Buffer.of(byte));
      response.end();
    });
    expect(answer).toMatchObject({ ok: true, value: { txnDate: "2026-11-20 08:44:54 – ₹" } });
  });

  test.each<[string, RequestListener]>([
    ["breaks before it", (request) => request.socket.destroy()],
    [
      "breaks in the midst of it",
      (_, response) => {
        response.writeHead(200, { ...JSON_HEAD, "content-length": body.length });
        response.write(body.slice(0, 20), () => response.destroy());
      },
    ],
    ["redirects it", (_, response) => response.writeHead(307, { location: "/elsewhere" }).end()],
  ])("a connection that %s gives no answer, and says why", async (_, listener) => {
    const answer = await ask(listener);
    expect(answer).toMatchObject({ ok: false, failure: { kind: "no_answer", why: "network" } });
    expect(answer.ok || (answer.failure.kind === "no_answer" && answer.failure.cause?.message)).toBeTruthy();
  });

  test("an answer that stops in the midst ends with the timeout", async () => {
    const stalls: RequestListener = (_, response) => {
      response.writeHead(200, { ...JSON_HEAD, "content-length": body.length });
      response.write(body.slice(0, 20));
    };
    expect(await ask(stalls, { timeoutMs: 100 })).toMatchObject({ failure: { kind: "no_answer", why: "timeout" } });
  });

  test("the caller's signal ends the request at the server too", async () => {
    const controller = new AbortController();
    let closed: Promise<unknown> | undefined;
    const origin = await serve((request) => {
      closed = new Promise((resolve) => request.socket.once("close", resolve));
      controller.abort(new Error("enough"));
    });
    const client = createClient({ base: `${origin}${PREFIX}/v1.0.1`, token: TOKEN });
    const answer = await client.lookUpCustomer("x", { signal: controller.signal });
    expect(answer).toMatchObject({ failure: { kind: "no_answer", why: "aborted", cause: { message: "enough" } } });
    await closed;
  });

  test("a connection that is refused is a network failure with the system's code", async () => {
    const refused = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
    const fetch = () => Promise.reject(new TypeError("fetch failed", { cause: refused }));
    const answer = await createClient({ base: BASE, token: TOKEN, fetch }).lookUpCustomer("x");
    const cause = { name: "Error", message: "connect ECONNREFUSED", code: "ECONNREFUSED" };
    expect(answer).toMatchObject({ failure: { kind: "no_answer", why: "network", cause } });
  });

  test("bytes that are no UTF-8 are unreadable", async () => {
    const answer = await ask((_, response) => response.writeHead(200, JSON_HEAD).end(Buffer.from([0x7b, 0xff, 0x7d])));
    expect(answer).toMatchObject({ failure: { kind: "unreadable" } });
  });

  test("an answer without end is not read to its end", async () => {
    const answer = await ask((_, response) => {
      response.writeHead(200, JSON_HEAD);
      const more = () => {
        while (response.write(" ".repeat(65_536)));
      };
      response.on("drain", more);
      more();
    });
    expect(answer).toMatchObject({ failure: { kind: "unreadable", text: "" } });
  });
});

describe("the access token", () => {
  const leaks: readonly (readonly [string, ClientOptions["fetch"]])[] = [
    ["a page", async () => asResponse({ ...page(500), text: `<p>Authorization: Bearer ${TOKEN}</p>` })],
    ["a page with status 200", async () => asResponse({ ...page(200), text: `${"x".repeat(3_980)}${TOKEN}` })],
    ["a JSON body", async () => asResponse(reply(400, { success: false, code: TOKEN, request: { [TOKEN]: [TOKEN] } }))],
    [
      "a JSON body with escapes",
      async () => asResponse({ ...page(200), text: JSON.stringify(TOKEN).replaceAll("/", "\\/") }),
    ],
    [
      "a message",
      async () =>
        asResponse(
          failure("400ad002", { message: TOKEN, requestId: TOKEN, fields: [{ field: TOKEN, problem: TOKEN }] }),
        ),
    ],
    [
      "a header",
      async () => asResponse(failure("400ac002", {}, { "www-authenticate": `Bearer ${TOKEN}`, "x-request-id": TOKEN })),
    ],
    [
      "an error",
      async (_, init) =>
        Promise.reject(Object.assign(new Error(`cannot send ${JSON.stringify(init.headers)}`), { init, code: TOKEN })),
    ],
    ["the cause of an error", async () => Promise.reject(new TypeError("fetch failed", { cause: new Error(TOKEN) }))],
    ["something thrown that is no error", async () => Promise.reject(`Bearer ${TOKEN}`)],
  ];

  test.each(leaks)("is taken out of %s that repeats it", async (_, fetch) => {
    const client = createClient({ base: BASE, token: TOKEN, fetch });
    const answer = await client.queryTransaction("c-1");
    const outcome = await client.topUp(PURCHASE, { giveUpAfterMs: 1 });
    expect(answer.ok).toBe(false);
    for (const shown of [answer, outcome, client]) {
      for (const text of [
        JSON.stringify(shown),
        inspect(shown, { depth: null, showHidden: true }),
        `${shown as unknown as string}`,
      ]) {
        expect(text).not.toContain(TOKEN.slice(0, 20));
      }
    }
    expect(JSON.stringify(answer)).toContain("[access token]");
  });

  test("may be any word without changing what an answer means", async () => {
    const fetch = async () => asResponse(failure("400ac002"));
    const { failure: read } = (await createClient({ base: BASE, token: "refused", fetch }).lookUpCustomer("x")) as {
      failure: object;
    };
    expect(read).toMatchObject({ kind: "refused", retry: "no", reason: "unknown_token" });
    const success = createClient({ base: BASE, token: "1", fetch: async () => asResponse(recorded()) });
    expect(await success.queryTransaction(PURCHASE.checkoutId)).toMatchObject({ value: { amt: "1290" } });
  });
});

test("a fetch that throws at once, or follows a redirection, is a network failure", async () => {
  const throws = () => {
    throw new Error("not here");
  };
  const follows = async () => Object.assign(asResponse(otherFailure(400)), { redirected: true });
  for (const fetch of [throws, follows]) {
    const client = createClient({ base: BASE, token: TOKEN, fetch });
    expect(await client.lookUpCustomer("x")).toMatchObject({ failure: { kind: "no_answer", why: "network" } });
  }
});
