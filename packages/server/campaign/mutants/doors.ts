import type { Mutant } from "./mutant.ts";

/* Faults of the fast door: its answers must be those of the other door, to requests of every form. */

const DOORS = "doors --rounds 3000 --seed 12";

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

export const IN_DOORS: readonly Mutant[] = [
  {
    fault: "the fast door takes a repeated header",
    file: "packages/server/src/partner/plain-http.ts",
    from: "fields.has(name) ||",
    to: "false ||",
    campaign: DOORS,
  },
  {
    fault: "the fast door takes a repeated Content-Length",
    file: "packages/server/src/partner/plain-http.ts",
    from: "fields.has(name)",
    to: 'fields.has(name) && name !== "content-length"',
    campaign: DOORS,
  },
  {
    fault: "the fast door takes a request without Host",
    file: "packages/server/src/partner/plain-http.ts",
    from: 'fields.has("host") &&',
    to: "",
    campaign: DOORS,
  },
  {
    fault: "the fast door takes a repeated Host",
    file: "packages/server/src/partner/plain-http.ts",
    from: "fields.has(name)",
    to: 'fields.has(name) && name !== "host"',
    campaign: DOORS,
  },
  {
    fault: "the fast door takes a repeated Authorization",
    file: "packages/server/src/partner/plain-http.ts",
    from: "fields.has(name)",
    to: 'fields.has(name) && name !== "authorization"',
    campaign: DOORS,
  },
  {
    fault: "the fast door ignores Transfer-Encoding",
    file: "packages/server/src/partner/plain-http.ts",
    from: '  "transfer-encoding",\n',
    to: "",
    campaign: DOORS,
  },
  {
    fault: "the fast door ignores Content-Encoding",
    file: "packages/server/src/partner/plain-http.ts",
    from: '  "content-encoding",\n',
    to: "",
    campaign: DOORS,
  },
  {
    fault: "the fast door ignores Expect",
    file: "packages/server/src/partner/plain-http.ts",
    from: '  "expect",\n',
    to: "",
    campaign: DOORS,
  },
  {
    fault: "the fast door ignores Upgrade",
    file: "packages/server/src/partner/plain-http.ts",
    from: '  "upgrade",\n',
    to: "",
    campaign: DOORS,
  },
  {
    fault: "the fast door ignores Connection: close",
    file: "packages/server/src/partner/plain-http.ts",
    from: "/^keep-alive$/i.test(",
    to: "/^/.test(",
    campaign: DOORS,
  },
  {
    fault: "the fast door takes a bare line feed",
    file: "packages/server/src/partner/plain-http.ts",
    from: 'head.split("\\r\\n")',
    to: "head.split(/\\r?\\n/)",
    campaign: DOORS,
  },
  {
    fault: "the fast door takes HTTP/1.0",
    file: "packages/server/src/partner/plain-http.ts",
    from: "HTTP\\/1\\.1$/",
    to: "HTTP\\/1\\.\\d$/",
    campaign: DOORS,
  },
  {
    fault: "the fast door takes control characters",
    file: "packages/server/src/partner/plain-http.ts",
    from: "(?:[\\t -~]*[!-~])",
    to: "(?:[^]*[!-~])",
    campaign: DOORS,
  },
  {
    fault: "the fast door takes a tab after a length",
    file: "packages/server/src/partner/plain-http.ts",
    from: ") *$/",
    to: ")\\s*$/",
    campaign: DOORS,
  },
  {
    fault: "the fast door takes a signed length",
    file: "packages/server/src/partner/plain-http.ts",
    from: "/^[1-9][0-9]{0,3}$/",
    to: "/^\\+?[1-9][0-9]{0,3}$/",
    campaign: DOORS,
  },
  {
    fault: "the fast door takes a body that is too long",
    file: "packages/server/src/partner/plain-http.ts",
    from: "<= BODY_MAX_BYTES",
    to: "<= BODY_MAX_BYTES + 1",
    campaign: DOORS,
  },
  {
    fault: "the fast door takes more bytes than the request",
    file: "packages/server/src/partner/fast-door.ts",
    from: "=== text.length ? head",
    to: "<= text.length ? head",
    campaign: DOORS,
  },
  {
    fault: "the fast door takes less bytes than the request",
    file: "packages/server/src/partner/fast-door.ts",
    from: "=== text.length ? head",
    to: ">= text.length ? head",
    campaign: DOORS,
  },
  {
    fault: "the fast door reads a body as Latin-1",
    file: "packages/server/src/partner/fast-door.ts",
    from: "isAscii(this.#bytes) ?",
    to: "true ?",
    campaign: DOORS,
  },
  {
    fault: "the fast door answers twice",
    file: "packages/server/src/partner/fast-door.ts",
    from: "this.#lane.write(this, answer, isLast);",
    to: 'this.#lane.write(this, answer, isLast), this.#lane.socket.write("HTTP/1.1 200 OK\\r\\n\\r\\n");',
    campaign: DOORS,
  },
  {
    fault: "the fast door loses bytes that it hands over",
    file: "packages/server/src/partner/fast-door.ts",
    from: 'socket.emit("data", bytes);',
    to: "",
    campaign: DOORS,
  },
  {
    fault: "the fast door loses bytes that wait",
    file: "packages/server/src/partner/fast-door.ts",
    from: "this.#receive(held.bytes, held.at);",
    to: "",
    campaign: DOORS,
  },
  {
    fault: "the fast door trusts a head that was accepted before",
    file: "packages/server/src/partner/fast-door.ts",
    from: "this.options.pipeline.admit(call, operation);",
    to: TRUSTING,
    campaign: DOORS,
  },
  {
    fault: "the fast door forgets from where a request comes",
    file: "packages/server/src/partner/fast-door.ts",
    from: "this.head.forwardedFor",
    to: "undefined",
    campaign: DOORS,
  },
];
