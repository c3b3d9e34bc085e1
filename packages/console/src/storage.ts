/** Reads from local storage. The console also works without local storage. */
export function readStored(key: string, of: Storage = localStorage): string | null {
  try {
    return of.getItem(`topupd.${key}`);
  } catch {
    return null;
  }
}

export function store(key: string, value: string | null, of: Storage = localStorage): void {
  try {
    if (value === null) of.removeItem(`topupd.${key}`);
    else of.setItem(`topupd.${key}`, value);
  } catch {
    // Private windows may refuse to store.
  }
}
