import type { Choices } from "./random.ts";

export interface Purchase {
  readonly cuid: string;
  readonly service: "internet";
  readonly reqId: string;
  readonly checkoutId: string;
  readonly bouquetId: string;
  readonly amt: string;
}

export interface Answer {
  readonly status: number;
  readonly replayed: boolean;
  readonly text: string;
  readonly code: string;
}

interface Listing {
  readonly bouquets: readonly { readonly code: string; readonly price: number }[];
  readonly subscriptions: readonly { readonly startdate: string; readonly enddate: string }[];
}

/** A partner as partners are: it knows a base address and a token, and nothing of the inside. */
export class PartnerClient {
  readonly #base: string;
  readonly #token: string;

  constructor(url: string, token: string) {
    this.#base = `${url}/staging/api/third-party/v1.0.1`;
    this.#token = token;
  }

  async call(operation: string, request: object): Promise<Answer> {
    const response = await fetch(`${this.#base}/${operation}`, {
      method: "POST",
      headers: { authorization: `Bearer ${this.#token}`, "content-type": "application/json" },
      body: JSON.stringify(request),
    });
    const text = await response.text();
    const { code } = JSON.parse(text) as { code: string };
    return { status: response.status, replayed: response.headers.has("idempotent-replayed"), text, code };
  }

  async list(index: number): Promise<Listing & { readonly checkoutId: string }> {
    const { status, text } = await this.call("get-subscription-package", connection(index));
    if (status !== 200) throw new Error(`the packages cannot be listed: ${text}`);
    const { body } = JSON.parse(text) as { body: { checkoutId: string; internet: Listing } };
    return { checkoutId: body.checkoutId, ...body.internet };
  }

  /** Takes the first two steps of a top-up of one of the campaign's customers. */
  async prepare(index: number, choices: Choices): Promise<Purchase> {
    const { checkoutId, bouquets } = await this.list(index);
    const bouquet = choices.of(bouquets);
    return { ...connection(index), checkoutId, bouquetId: bouquet.code, amt: String(bouquet.price) };
  }

  topUp(purchase: Purchase): Promise<Answer> {
    return this.call("subscription-package-topup", purchase);
  }

  query(checkoutId: string): Promise<Answer> {
    return this.call("txn-status", { checkoutId });
  }
}

function connection(index: number) {
  return { cuid: `c${index}`, service: "internet", reqId: `u${index}` } as const;
}
