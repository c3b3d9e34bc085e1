/** Where a campaign runs. */
export interface Ground {
  /** An empty folder. */
  readonly cwd: string;
  /** What every process is told of; without it, a file in the folder. */
  readonly database?: string;
}

/** How the command line is run there. */
export function runThere({ cwd, database }: Ground): { readonly cwd: string; readonly env: Record<string, string> } {
  return { cwd, env: database === undefined ? {} : { TOPUPD_DATABASE: database } };
}
