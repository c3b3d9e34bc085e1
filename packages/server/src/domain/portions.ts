/** Cuts a list into portions of a size; the last one can be smaller. */
export function* portionsOf<Item>(items: readonly Item[], size: number): Generator<Item[]> {
  for (let from = 0; from < items.length; from += size) yield items.slice(from, from + size);
}
