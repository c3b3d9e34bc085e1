import type { Bouquet } from "../../domain/bouquet.ts";
import type { Packages } from "../list-packages.ts";
import type { Rendering } from "./version.ts";

const EMPTY_END = "[]}}}";

/**
 * Writes listings as JSON.stringify does. Their bouquets come last and are the same for many listings, and the longest
 * part of each: their JSON is made once.
 */
export function listingWriter(render: Rendering<Packages>["render"]): NonNullable<Rendering<Packages>["write"]> {
  const written = new WeakMap<readonly Bouquet[], string>();
  return (code, { checkoutId, customer, connection, subscriptions, bouquets }, exponent) => {
    const write = (list: readonly Bouquet[]) => {
      const body = render({ checkoutId, customer, connection, subscriptions, bouquets: list }, exponent);
      return JSON.stringify({ success: true, code, body });
    };
    const beforeTheList = write([]).slice(0, -EMPTY_END.length);
    const list = written.get(bouquets) ?? write(bouquets).slice(beforeTheList.length);
    written.set(bouquets, list);
    return beforeTheList + list;
  };
}
