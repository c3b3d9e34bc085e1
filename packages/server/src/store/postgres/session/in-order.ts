import type { Prepared } from "./session.ts";

/**
 * Of a table that it has not analyzed yet, PostgreSQL may expect so little that it gathers and sorts all of it
 * for each step. Without bitmaps, it goes along the index, which has the order already.
 */
export const IN_ORDER: Prepared = {
  name: "search_in_order",
  text: "SELECT set_config('enable_bitmapscan', 'off', true)",
};
