/*
 * A list of bouquets is the same for many listings, and the longest part of each. Its JSON is taken once out of what the
 * serializer has written, so that it holds what the schema has and nothing else.
 */

interface Listing {
  bouquets: readonly object[];
}

/** An answer of get-subscription-package: the list is the last thing in it. */
export interface ListingEnvelope {
  readonly body: { readonly [service in "tv" | "internet" | "iptv"]?: Listing };
}

const NO_BOUQUETS: readonly object[] = [];
const AFTER_THE_LIST = "}}}";
const EMPTY_END = `[]${AFTER_THE_LIST}`;

const writtenLists = new WeakMap<readonly object[], string>();

/**
 * @param envelope of one answer; its list is taken out of it.
 * @param serialize the serializer of such envelopes.
 */
export function serializeListing<Envelope extends ListingEnvelope>(
  envelope: Envelope,
  serialize: (envelope: Envelope) => string,
): string {
  const { tv, internet, iptv } = envelope.body;
  const listing = (tv ?? internet ?? iptv) as Listing;
  const { bouquets } = listing;
  const written = writtenLists.get(bouquets) ?? serialize(envelope);
  listing.bouquets = NO_BOUQUETS;
  const beforeTheList = serialize(envelope).slice(0, -EMPTY_END.length);
  if (writtenLists.has(bouquets)) return beforeTheList + written + AFTER_THE_LIST;
  writtenLists.set(bouquets, written.slice(beforeTheList.length, -AFTER_THE_LIST.length));
  return written;
}
