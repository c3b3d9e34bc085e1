import type { ReadingPorts } from "../ports.ts";

export interface CheckReport {
  /** Whether nothing was found wrong. */
  readonly ok: boolean;
  readonly checked: readonly { readonly what: string; readonly count: number }[];
  readonly wrong: readonly string[];
}

/** Whether what is stored can be trusted. @param onWrong hears at once of whatever is found. */
export async function checkStore({ store }: ReadingPorts, onWrong: (what: string) => void): Promise<CheckReport> {
  const checked: { what: string; count: number }[] = [];
  const wrong: string[] = [];
  for await (const event of store.check()) {
    if (event.kind === "checked") checked.push({ what: event.what, count: event.count });
    else {
      wrong.push(event.what);
      onWrong(event.what);
    }
  }
  return { ok: wrong.length === 0, checked, wrong };
}
