import { LISTING, LOOK_UP, type Mutant, on, onPackages, QUERY, takes } from "./mutant.ts";

/** What breaks topupd's decisions elsewhere than in a look-up, or in all answers. */
export const TOPUPD_ELSEWHERE_MUTANTS: readonly Mutant[] = [
  ...[LISTING, QUERY].flatMap((operation): Mutant[] => [
    {
      name: `no token needed: ${operation}`,
      caught: ["missing-token-elsewhere"],
      change: takes("missing_token", operation),
    },
    {
      name: `any token taken: ${operation}`,
      caught: ["unknown-token-elsewhere"],
      change: takes("unknown_token", operation),
    },
    {
      name: `text/plain taken: ${operation}`,
      caught: ["media-type-elsewhere"],
      change: takes("unsupported_media_type", operation),
    },
  ]),
  {
    name: "a key twice that is written with an escape",
    caught: ["duplicate-key-escaped"],
    change: { isLenient: (reason, { text }) => reason === "malformed_json" && text.includes("\\u") },
  },
  {
    name: "one X-Request-Id for all",
    caught: ["request-id-unique"],
    change: {
      rewrite: ({ headers, json }) => {
        headers["x-request-id"] = "always";
        if (json.success === false) json.body.requestId = "always";
      },
    },
  },
  {
    name: "JSON as text/html",
    caught: ["content-type-json"],
    change: {
      rewrite: ({ headers }) => {
        headers["content-type"] = "text/html";
      },
    },
  },
  {
    name: "the connections inside as well",
    caught: ["own-names-only"],
    change: on(LOOK_UP, ({ body }, { version }) => {
      if (version === "v1.0.0") body.customer.connections = body.connection;
    }),
  },
  {
    name: "the connections beside it as well",
    caught: ["own-names-only"],
    change: on(LOOK_UP, ({ body }, { version }) => {
      if (version === "v1.0.1") body.connection = body.customer.connections;
    }),
  },
  {
    name: "a price by both names",
    caught: ["own-names-only"],
    change: onPackages(({ bouquets }) => {
      for (const bouquet of bouquets) bouquet.price = bouquet.amt = bouquet.price ?? bouquet.amt;
    }),
  },
];
