/*
 * A list of bouquets is the same for many listings, and the longest part of each: its JSON is made once, and put
 * into the others at the place where the serializer, given an empty list, leaves it.
 */

interface Listing {
  readonly bouquets: readonly object[];
}

/** An answer of get-subscription-package: the list is the last thing in it. */
export interface ListingEnvelope {
  readonly body: { readonly [service in "tv" | "internet" | "iptv"]?: Listing };
}

const EMPTY_LIST_AT_ITS_END = "[]}}}";

const made = new WeakMap<readonly object[], string>();

/** @param serialize the serializer of such envelopes. */
export function serializeListing<Envelope extends ListingEnvelope>(
  envelope: Envelope,
  serialize: (envelope: Envelope) => string,
): string {
  const { body } = envelope;
  const service = body.tv ? "tv" : body.internet ? "internet" : "iptv";
  const listing = body[service];
  if (listing === undefined) return serialize(envelope);
  const json = serialize({ ...envelope, body: { ...body, [service]: { ...listing, bouquets: [] } } });
  if (!json.endsWith(EMPTY_LIST_AT_ITS_END)) return serialize(envelope);
  return `${json.slice(0, -EMPTY_LIST_AT_ITS_END.length)}${listJson(listing.bouquets)}}}}`;
}

function listJson(list: readonly object[]): string {
  const known = made.get(list);
  if (known !== undefined) return known;
  const json = JSON.stringify(list);
  made.set(list, json);
  return json;
}
