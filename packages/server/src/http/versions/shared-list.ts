/*
 * A list of bouquets is the same for many listings, and the longest part of each: its JSON is taken once out of a
 * listing that the serializer has written, so it holds what the schema has and nothing else, and is put into the others
 * at the place where the serializer, given an empty list, leaves it.
 */

interface Listing {
  readonly bouquets: readonly object[];
}

/** An answer of get-subscription-package: the list is the last thing in it. */
export interface ListingEnvelope {
  readonly body: { readonly [service in "tv" | "internet" | "iptv"]?: Listing };
}

const AFTER_THE_LIST = "}}}";
const EMPTY_LIST_AT_ITS_END = `[]${AFTER_THE_LIST}`;

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
  const beforeTheList = json.slice(0, -EMPTY_LIST_AT_ITS_END.length);
  const known = made.get(listing.bouquets);
  if (known !== undefined) return `${beforeTheList}${known}${AFTER_THE_LIST}`;
  const whole = serialize(envelope);
  made.set(listing.bouquets, whole.slice(beforeTheList.length, -AFTER_THE_LIST.length));
  return whole;
}
