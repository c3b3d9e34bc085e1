import { PREFIX } from "../test/support/open-service.ts";
import { type Draft, twist, UNKNOWN_TOKEN, vary } from "./door-twists.ts";
import type { Choices } from "./random.ts";

/* Generated connections of callers: requests in the plain form and around it, and how their bytes are cut. */

/** The parts of requests. */
export interface World {
  /** Access tokens. The first is good; staff change some of the others meanwhile. */
  readonly tokens: readonly [string, ...string[]];
  /** Issues a checkoutId to the first token, for the internet connection of a customer. @param age in milliseconds */
  readonly checkout: (customer: number, age: number) => string;
}

/** One connection. */
export interface DoorCase {
  readonly requests: readonly Buffer[];
  readonly chunks: readonly Chunk[];
  /** Whether the caller closes its direction with the last chunk, and not once all is quiet. */
  readonly endsAtOnce: boolean;
  /** Whether every request is valid HTTP, and must be answered once. */
  readonly isPlain: boolean;
}

export interface Chunk {
  readonly bytes: Buffer;
  /** The answers that the caller waits for after it. */
  readonly pause: "none" | "turn" | "quiet";
}

export const CUSTOMERS = 40;
export const BOUQUET = { code: "B-1M", price: "1130" };
const OPERATIONS = [
  "get-customer-information",
  "get-subscription-package",
  "subscription-package-topup",
  "txn-status",
] as const;
/** Most requests of one connection; each has customers of its own, so that the answers do not depend on their order. */
const MOST_REQUESTS = 4;
/** Cases from a number on, out of so many, cut one request at each of its bytes in turn. */
const SWEEP_EVERY = 10_000;
const SWEEP_FROM = 2_400;

/** Top-ups of previous cases by the place of the request. They are repeated, and looked up. */
const RECENT = 20;

export class DoorCases {
  readonly #world: World;
  readonly #recent: string[][] = Array.from({ length: MOST_REQUESTS }, () => []);
  #swept: Buffer = Buffer.alloc(0);

  constructor(world: World) {
    this.#world = world;
  }

  /** Makes the next case. */
  make(number: number, choices: Choices): DoorCase {
    const at = (number % SWEEP_EVERY) - SWEEP_FROM;
    if (at === 0) this.#swept = toBytes(this.#plain(0, choices, { isUsual: true }));
    if (at > 0 && at < this.#swept.length) return this.#sweep(at, choices);
    const count = choices.of([1, 1, 1, 2, 2, 3, MOST_REQUESTS]);
    const made = Array.from({ length: count }, (_, place) => {
      const twists = choices.of([0, 0, 0, 0, 1, 1, 1, 1, 1, 2]);
      const draft = this.#plain(place, choices, { isUsual: choices.below(2) === 0 });
      for (let left = twists; left > 0; left -= 1) twist(draft, choices);
      return { draft, isPlain: twists === 0 };
    });
    const endsAtOnce = choices.below(5) === 0;
    return { ...this.#cut(made, choices), endsAtOnce, isPlain: made.every(({ isPlain }) => isPlain) };
  }

  /** Makes a case of plain requests with an accepted token, the last of which closes the connection. */
  makePlain(choices: Choices): DoorCase {
    const [token] = this.#world.tokens;
    const places = Array.from({ length: 1 + choices.below(MOST_REQUESTS) }, (_, place) => place);
    const drafts = places.map((place) => this.#plain(place, choices, { token }));
    const last = drafts.at(-1) as Draft;
    last.head = `${last.head.replace(/\r\nConnection:.*/i, "")}\r\nConnection: close`;
    const made = drafts.map((draft) => ({ draft, isPlain: true }));
    return { ...this.#cut(made, choices), endsAtOnce: false, isPlain: true };
  }

  #sweep(at: number, choices: Choices): DoorCase {
    const parts = [this.#swept.subarray(0, at), this.#swept.subarray(at)];
    const chunks = parts.map((bytes) => ({ bytes, pause: choices.of(["none", "turn"] as const) }));
    return { requests: [this.#swept], chunks, endsAtOnce: false, isPlain: true };
  }

  #plain(place: number, choices: Choices, { isUsual = false, token = this.#token(choices) } = {}): Draft {
    const operation = choices.of(OPERATIONS);
    const version = choices.of(["v1.0.1", "v1.0.1", "v1.0.0"]);
    const body = Buffer.from(this.#body(operation, place, choices)).toString("latin1");
    const head =
      `POST ${PREFIX}/${version}/${operation} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n` +
      `Authorization: Bearer ${token}\r\nContent-Length: ${body.length}`;
    const draft = { head, blank: "\r\n\r\n", body };
    if (!isUsual && choices.below(8) === 0) askReport(draft, choices);
    if (!isUsual) vary(draft, choices);
    return draft;
  }

  #token(choices: Choices): string {
    const { tokens } = this.#world;
    return choices.below(2) === 0 ? tokens[0] : choices.of([...tokens, UNKNOWN_TOKEN, "unknown"]);
  }

  /** Whoever hurries sends only plain requests whose token is accepted: each is answered whatever comes behind it. */
  #cut(made: readonly { readonly draft: Draft; readonly isPlain: boolean }[], choices: Choices) {
    const requests = made.map(({ draft }) => toBytes(draft));
    const isSure = made.map(({ draft, isPlain }) => isPlain && draft.head.includes(this.#world.tokens[0]));
    return { requests, chunks: cut(requests, isSure, choices) };
  }

  /** The body of a request for customers that no other place of the connection has. */
  #body(operation: (typeof OPERATIONS)[number], place: number, choices: Choices): string {
    const customer = place + MOST_REQUESTS * choices.below(CUSTOMERS / MOST_REQUESTS);
    const recent = this.#recent[place] as string[];
    const sentBefore = choices.below(2) === 0 ? choices.of(recent) : undefined;
    if (choices.below(12) === 0) return choices.of(["{}", "{", "[]", '{"code":"c1","code":"c1"}', '{"cuid":"c1"}']);
    switch (operation) {
      case "get-customer-information":
        return JSON.stringify({ code: choices.of([`c${customer}`, `net${customer}`, "nobody", "", "1000002"]) });
      case "get-subscription-package":
        return JSON.stringify(choices.of([connection(customer), { ...connection(customer), reqId: "other" }]));
      case "txn-status":
        return sentBefore ?? JSON.stringify({ checkoutId: this.#world.checkout(customer, choices.of(AGES)) });
      case "subscription-package-topup": {
        if (sentBefore !== undefined && choices.below(3) === 0) return sentBefore;
        const bought = {
          ...connection(customer),
          checkoutId: this.#world.checkout(customer, choices.of(AGES)),
          bouquetId: choices.of([BOUQUET.code, BOUQUET.code, "B-2M"]),
          amt: choices.of([BOUQUET.price, BOUQUET.price, Number(BOUQUET.price), "1"]),
          udf1: choices.of([undefined, "नेपाल", "é", "order 7"]),
        };
        const body = JSON.stringify(bought);
        if (recent.push(body) > RECENT) recent.shift();
        return body;
      }
    }
  }
}

/** Queries whose answers do not depend on the top-ups of other cases. */
const QUERIES = [
  "?to=2026-01-01",
  "?from=2026-01-01&to=2026-01-31&x=y",
  "?from=x",
  "?from=",
  "?cursor=a&cursor=b",
  "?to=%00",
];

/** Makes the request a GET of a report, with or without a body. */
function askReport(draft: Draft, choices: Choices): void {
  draft.head = draft.head.replace(/^POST \S+/, `GET ${PREFIX}/v1.0.1/partner/top-ups${choices.of(QUERIES)}`);
  if (choices.below(2) === 0) return;
  draft.head = draft.head.replace(/\r\nContent-(?:Type|Length):[^\r]*/gi, "");
  draft.body = "";
}

/** Kinds of checkoutIds: new, expired, or never usable again. */
const AGES = [0, 0, 0, 0, 0, 0, 310_000, 400_000];

function connection(customer: number) {
  return { cuid: `c${customer}`, service: "internet", reqId: `net${customer}` };
}

function toBytes({ head, blank, body }: Draft): Buffer {
  return Buffer.from(head + blank + body, "latin1");
}

/** @param isSure by the place of a request, whether it is certain to be answered. */
function cut(requests: readonly Buffer[], isSure: readonly boolean[], choices: Choices): Chunk[] {
  const all = Buffer.concat(requests);
  const pauses = choices.of([["none"], ["turn"], ["quiet"], ["none", "turn", "quiet"]] as const);
  let end = 0;
  const ends = requests.map(({ length }) => (end += length));
  // What becomes of a refused request, or of bytes that are none, depends on whether the answer before has left. A door
  // may let bytes wait for that, so the caller waits too, wherever a request may have come to its end.
  const mayHurry = (at: number) => {
    const place = ends.findIndex((each) => at <= each);
    const isInHead = at < (ends[place] as number) && !all.subarray(ends[place - 1] ?? 0, at).includes("\n\r\n");
    return isInHead || !isSure.includes(false, place);
  };
  const cutAt = (points: readonly number[]) => {
    const cuts = [...new Set([...points, all.length])].sort((a, b) => a - b);
    return cuts.map((at, index): Chunk => {
      const pause = mayHurry(at) ? choices.of(pauses) : "quiet";
      return { bytes: all.subarray(cuts[index - 1] ?? 0, at), pause };
    });
  };
  const somewhere = () => 1 + choices.below(all.length);
  switch (choices.below(8)) {
    case 0:
      return cutAt([]);
    case 1:
      return cutAt([somewhere()]);
    case 2:
      return cutAt([...ends, somewhere()]);
    case 3:
      return cutAt(Array.from({ length: 2 + choices.below(4) }, somewhere));
    case 4:
      return cutAt(all.length <= 1_000 && choices.below(8) === 0 ? Array.from(all.keys()).slice(1) : ends);
    default:
      return cutAt(ends);
  }
}
