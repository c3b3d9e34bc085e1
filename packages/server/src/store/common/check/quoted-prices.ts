import type { Service } from "../../../domain/bouquet.ts";
import type { Environment } from "../../../domain/customer.ts";

/** Every price that was ever quoted, for {@link QuotedPrices}: of each bouquet, by revision. */
export const QUOTED_PRICES = `SELECT environment, service, code, revision, price
  FROM bouquet JOIN catalogue_revision USING (revision) ORDER BY environment, service, code, revision`;

interface PriceRow {
  readonly environment: Environment;
  readonly service: Service;
  readonly code: string;
  readonly revision: number;
  readonly price: number;
}

type Priced = Pick<PriceRow, "environment" | "service" | "code">;

/** What bouquets cost in each revision of the catalogue: of many revisions alike, the first is kept. */
export class QuotedPrices {
  readonly #changes = new Map<string, { readonly revision: number; readonly price: number }[]>();

  /** @param row as {@link QUOTED_PRICES} finds them, in its order. */
  add(row: unknown): void {
    const { revision, price, ...bouquet } = row as PriceRow;
    const changes = this.#changes.get(nameOf(bouquet)) ?? [];
    if (changes.at(-1)?.price !== price) changes.push({ revision, price });
    this.#changes.set(nameOf(bouquet), changes);
  }

  /** Also of a revision that left the bouquet out: what it cost before. Undefined before it was there. */
  at(bouquet: Priced, revision: number): number | undefined {
    return this.#changes.get(nameOf(bouquet))?.findLast((change) => change.revision <= revision)?.price;
  }
}

function nameOf({ environment, service, code }: Priced): string {
  return `${environment} ${service} ${code}`;
}
