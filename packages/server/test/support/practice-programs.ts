import type { Purchase } from "../../campaign/partner.ts";
import { FAULTS, PRACTICE_CUID, TOP_UP_OPERATION, type TrialCall } from "../../src/domain/practice.ts";
import type { ListedOutcome } from "../../src/domain/practice-report.ts";
import { certifyPractice } from "../../src/office/practice/operations.ts";
import { reversePractised } from "../../src/office/practice/reversals.ts";
import { deskOf, run } from "./desk.ts";
import { PREFIX, type TestService } from "./service.ts";

/* Programs of partners that practise: a correct one, and one that breaks each rule. */

/** An answer as a program sees it. */
interface Seen {
  /** `success`, the reason of a failure, or `unreadable`. */
  readonly became: string;
  /** Milliseconds of Retry-After. */
  readonly waitMs: number;
}

/** Handles the order of one fault. @returns what it writes into its list, and the last checkoutId that it used. */
export type Program = (partner: PracticePartner, purchase: Purchase) => Promise<Handled>;
type Handled = readonly [listed: ListedOutcome, checkoutId?: string];

/** A partner at a service, with its own list. Time passes only while a program waits. */
export class PracticePartner {
  readonly name: string;
  readonly list = new Map<string, ListedOutcome>();
  readonly #service: TestService;
  readonly #url: string;
  readonly #token: string;

  private constructor(service: TestService, url: string, name: string, token: string) {
    this.#service = service;
    this.#url = url;
    this.name = name;
    this.#token = token;
  }

  /** @param url of the listening service. */
  static async at(service: TestService, url: string, name: string): Promise<PracticePartner> {
    const token = await service.issue(await service.addPartner(name), "trial");
    return new PracticePartner(service, url, name, token);
  }

  get access() {
    return { base: `${this.#url}${PREFIX}/v1.0.1`, token: this.#token, fetch: this.#sent };
  }

  /** Number of calls that were sent. */
  sent = 0;
  readonly #sent = (url: string, init: RequestInit): Promise<Response> => {
    this.sent += 1;
    return fetch(url, init);
  };

  get now(): number {
    return this.#service.now;
  }

  wait(ms: number): void {
    this.#service.now += ms;
  }

  async quote(reqId: string, bouquetId = "TRIAL-NET-1M"): Promise<Purchase> {
    const connection = { cuid: PRACTICE_CUID, service: "internet", reqId } as const;
    const { body } = (await (await this.#fetch("get-subscription-package", connection)).json()) as {
      body: { checkoutId: string; internet: { bouquets: { code: string; price: number }[] } };
    };
    const { price } = body.internet.bouquets.find(({ code }) => code === bouquetId) ?? {};
    return { ...connection, checkoutId: body.checkoutId, bouquetId, amt: String(price) };
  }

  topUp(purchase: Purchase): Promise<Seen> {
    return this.#call(TOP_UP_OPERATION, purchase);
  }

  ask({ checkoutId }: Purchase): Promise<Seen> {
    return this.#call("txn-status", { checkoutId });
  }

  /** Lets a program handle an order, and notes it in the list. */
  async handle(program: Program, fault: string): Promise<void> {
    const purchase = await this.quote(fault);
    const [listed, checkoutId = purchase.checkoutId] = await program(this, purchase);
    this.list.set(checkoutId, listed);
    if (fault === "reversed") await this.#reverse(checkoutId);
  }

  /** The provider reverses a top-up, and the partner sees it when it reconciles. */
  async #reverse(checkoutId: string): Promise<void> {
    this.wait(10_000);
    await reversePractised(this.#service.ports);
    this.list.set(checkoutId, "refunded");
  }

  /** The report of the provider, with the partner's list. */
  report(isWithList = true) {
    const desk = deskOf(this.#service.ports);
    const lines = [...this.list].map(([checkoutId, outcome], index) => `order-${index},${checkoutId},${outcome}\n`);
    const open = async function* () {
      yield Buffer.from(`order,checkoutId,outcome\n${lines.join("")}`);
    };
    const list = isWithList ? { name: "list.csv", isCsv: true, open } : undefined;
    return run(desk, certifyPractice, { partner: this.name, ...(list && { list }) });
  }

  #fetch(operation: string, body: object): Promise<Response> {
    return this.#sent(`${this.#url}${PREFIX}/v1.0.1/${operation}`, {
      method: "POST",
      headers: { authorization: `Bearer ${this.#token}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  }

  async #call(operation: string, body: object): Promise<Seen> {
    try {
      const answer = await this.#fetch(operation, body);
      const waitMs = Number(answer.headers.get("retry-after") ?? 0) * 1000;
      const json = (await answer.json()) as { success: boolean; body: { reason: string } };
      return { became: json.success ? "success" : json.body.reason, waitMs };
    } catch {
      return { became: "unreadable", waitMs: 0 };
    }
  }
}

/** Calls of the trial environment, as the service would store them each second. */
export class Notes {
  #calls: TrialCall[] = [];
  #noted = 0;

  note(call: TrialCall): void {
    this.#calls.push(call);
    this.#noted += 1;
  }

  /** Stores all calls that were sent. A call is noted a moment after its answer. */
  async store({ store }: TestService, sent: number): Promise<void> {
    while (this.#noted < sent) await new Promise((resolve) => setTimeout(resolve, 1));
    await store.recordTrialCalls(this.#calls);
    this.#calls = [];
  }
}

const REFUSED = ["bouquet_unavailable", "checkout_expired", "insufficient_balance", "limit_reached"];
const OPEN = ["unreadable", "unavailable"];

/** Asks until the answer is final, and sends the same again if it is not recorded yet. */
async function settle(partner: PracticePartner, purchase: Purchase, everyMs = 2_000): Promise<Handled> {
  for (let waitMs = 0; ; ) {
    partner.wait(Math.max(waitMs, everyMs));
    const answer = await partner.ask(purchase);
    if (answer.became === "success") return ["paid"];
    if (answer.became === "never_topped_up") return ["refunded"];
    waitMs = answer.waitMs;
    if (answer.became !== "not_topped_up") continue;
    partner.wait(everyMs);
    const again = await partner.topUp(purchase);
    if (again.became === "success") return ["paid"];
    waitMs = Math.max(again.waitMs, 8_000);
  }
}

const confirm: Program = async (partner, purchase) => {
  partner.wait(1_000);
  await partner.ask(purchase);
  return ["refunded"];
};

const correct: Program = async (partner, purchase) => {
  for (;;) {
    const { became, waitMs } = await partner.topUp(purchase);
    if (became === "success") return ["paid"];
    if (REFUSED.includes(became)) return confirm(partner, purchase);
    partner.wait(waitMs);
    if (became !== "rate_limited") return settle(partner, purchase);
  }
};

/** The correct program, except for a first answer that the mistake handles. */
function unless(isMistaken: (became: string) => boolean, mistake: Program): Program {
  return async (partner, purchase) => {
    const { became, waitMs } = await partner.topUp(purchase);
    if (isMistaken(became)) return mistake(partner, purchase);
    if (became === "success") return ["paid"];
    if (REFUSED.includes(became)) return confirm(partner, purchase);
    partner.wait(Math.max(waitMs, 2_000));
    return OPEN.includes(became) ? settle(partner, purchase) : correct(partner, purchase);
  };
}

const isOpen = (became: string) => OPEN.includes(became);

export const CORRECT = correct;

/** The mistakes, and the rule that each breaks. */
export const MISTAKES: Readonly<Record<string, readonly [rule: string, program: Program]>> = {
  "a new checkoutId on every retry": [
    "may_be_paid_twice",
    async (partner, first) => {
      for (let purchase = first, tries = 0; ; purchase = await partner.quote(first.reqId), tries += 1) {
        if ((await partner.topUp(purchase)).became === "success") return ["paid", purchase.checkoutId];
        if (tries === 3) return ["open", purchase.checkoutId];
        partner.wait(3_000);
      }
    },
  ],
  "a timeout taken as success": [
    "wrong_books",
    unless(
      (became) => became === "unreadable",
      async () => ["paid"],
    ),
  ],
  "the amount changed on a retry": [
    "changed_request",
    unless(isOpen, async (partner, purchase) => {
      partner.wait(3_000);
      await partner.topUp({ ...purchase, amt: `${Number(purchase.amt) + 10}` });
      return settle(partner, purchase);
    }),
  ],
  "Retry-After ignored": [
    "too_fast",
    unless(
      (became) => became === "unavailable" || became === "rate_limited",
      async (partner, purchase) => {
        partner.wait(300);
        return correct(partner, purchase);
      },
    ),
  ],
  "the same again after a refusal for money": [
    "sent_again",
    unless(
      (became) => became === "insufficient_balance" || became === "limit_reached",
      async (partner, purchase) => {
        partner.wait(60_000);
        return correct(partner, purchase);
      },
    ),
  ],
  "it never asks": ["given_up", unless(isOpen, async () => ["open"])],
};

export const FAULT_NAMES = FAULTS.map(({ name }) => name);
