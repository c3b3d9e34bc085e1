import type { OpenApi } from "./openapi.ts";

/** First text of a collection. */
export interface Introduction {
  readonly title: string;
  /** Markdown. */
  readonly description: string;
}

export function introduce({ info }: OpenApi): Introduction {
  return {
    title: `${info.title} ${info.version}`,
    description: [
      info.summary,
      "Set `base` to the `BASE` from your provider and `token` to your access token; `code` is any code of a customer, and `service` is `tv`, `internet` or `iptv`. Then send the requests from the first to the last: each takes what it needs from the answers before it.",
      "The third request tops up for real. Use a trial token, which reaches trial customers only.",
      info.description,
    ].join("\n\n"),
  };
}
