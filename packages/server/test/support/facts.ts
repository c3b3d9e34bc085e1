/** A fact that came to a partner's webhook, once for each time. */
export interface ArrivedFact {
  readonly id: string;
  /** Whether the receiver accepted it. */
  readonly isTaken: boolean;
}

/** @returns what partners are not promised: each fact arrives, in any order, and none of another partner does. */
export function brokenPromises(arrived: readonly ArrivedFact[], wanted: ReadonlySet<string>): string[] {
  const taken = new Set<string>();
  const broken = new Set<string>();
  for (const { id, isTaken } of arrived) {
    if (!wanted.has(id)) broken.add(`${id} is no fact of the partner`);
    if (isTaken) taken.add(id);
  }
  for (const id of wanted) if (!taken.has(id)) broken.add(`${id} was never taken`);
  return [...broken];
}
