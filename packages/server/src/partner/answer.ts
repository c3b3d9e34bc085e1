export interface Answer {
  readonly status: number;
  /** Names and values alternate; without length, date and connection. */
  readonly headers: readonly string[];
  readonly body: string | Buffer;
}
