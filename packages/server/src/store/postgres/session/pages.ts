import type { Session } from "./session.ts";

const ROWS_AT_A_TIME = 1_000;

/** The rows of a query, some at a time. To be called inside a transaction; one query after the other. */
export async function* readPages<Row>(session: Session, query: string): AsyncGenerator<Row[]> {
  // Whoever broke off before has left the cursor open.
  await session.execute(`CLOSE ALL; DECLARE pages NO SCROLL CURSOR FOR ${query}`);
  for (;;) {
    const rows = await session.ask<Row>(`FETCH ${ROWS_AT_A_TIME} FROM pages`);
    if (rows.length === 0) break;
    yield rows;
  }
  await session.execute("CLOSE pages");
}
