import type { IncomingHttpHeaders } from "node:http";
import type { Answer, Route } from "./call.ts";

/** A path that is read by GET and HEAD, by anybody. */
export interface Page extends Route {
  readonly load: (headers: IncomingHttpHeaders) => Promise<Answer>;
}

export function page(url: string, load: Page["load"]): Page {
  return { url, operation: undefined, headers: [], load };
}
