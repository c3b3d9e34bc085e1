import { CODE } from "./fake-data.ts";
import type { Request } from "./fake-provider.ts";
import {
  fail,
  LISTING,
  LOOK_UP,
  type Mutant,
  on,
  onConnections,
  onFailure,
  onPackages,
  QUERY,
  wrongStatus,
} from "./mutant.ts";
import { TOPUPD_ELSEWHERE_MUTANTS } from "./topupd-elsewhere-mutants.ts";

const isWhole = ({ text }: Request) => text.endsWith("}");

/** What breaks topupd's decisions while nothing is spent. */
export const TOPUPD_READING_MUTANTS: readonly Mutant[] = [
  ...["first_name", "last_name", "status"].map((name) => ({
    name: `another ${name} in a listing than in the look-up`,
    caught: ["listing-as-looked-up"],
    change: on(LISTING, ({ body }) => {
      body.customer[name] = "inactive";
    }),
  })),
  {
    name: "another status of a connection in a listing than in the look-up",
    caught: ["listing-as-looked-up"],
    change: onPackages(({ connection }) => {
      connection.status = "inactive";
    }),
  },
  {
    name: "an account without a balance",
    caught: ["own-reports"],
    change: on("partner/account", ({ body }) => {
      delete body.balance;
    }),
  },
  {
    name: "top-ups that are no list",
    caught: ["own-reports"],
    change: on("partner/top-ups", ({ body }) => {
      body.items = {};
    }),
  },
  {
    name: "no X-Request-Id",
    caught: ["request-id"],
    change: {
      rewrite: ({ headers }) => {
        delete headers["x-request-id"];
      },
    },
  },
  {
    name: "another requestId in the body",
    caught: ["request-id"],
    change: onFailure("customer_not_found", ({ json }) => {
      json.body.requestId = "other";
    }),
  },
  {
    name: "a failure without message",
    caught: ["failure-envelope"],
    change: onFailure("customer_not_found", ({ json }) => {
      delete json.body.message;
    }),
  },
  {
    name: "a failure with a retry of its own",
    caught: ["failure-envelope", "malformed-json", "duplicate-key", "duplicate-key-escaped"],
    change: onFailure("malformed_json", ({ json }) => {
      json.body.retry = "later";
    }),
  },
  {
    name: "401 without WWW-Authenticate",
    caught: ["bearer-challenge"],
    change: {
      rewrite: ({ headers }) => {
        delete headers["www-authenticate"];
      },
    },
  },
  {
    name: "405 without Allow",
    caught: ["allow-post"],
    change: {
      rewrite: ({ headers }) => {
        delete headers["allow"];
      },
    },
  },
  {
    name: "405 that allows GET",
    caught: ["allow-post"],
    change: {
      rewrite: ({ headers }) => {
        if (headers["allow"] !== undefined) headers["allow"] = "GET";
      },
    },
  },
  {
    name: "one problem at a time",
    caught: ["invalid-field-all"],
    change: onFailure("invalid_field", ({ json }) => {
      json.body.fields = json.body.fields.slice(0, 1);
    }),
  },
  {
    name: "missing_token with the code of unknown_token",
    caught: ["missing-token"],
    change: onFailure("missing_token", ({ json }, { operation }) => {
      if (operation === LOOK_UP) json.code = "400ac002";
    }),
  },
  {
    name: "unknown_token by another reason",
    caught: ["unknown-token"],
    change: onFailure("unknown_token", ({ json }, { operation }) => {
      if (operation === LOOK_UP) json.body.reason = "bad_token";
    }),
  },
  ...TOPUPD_ELSEWHERE_MUTANTS,
  wrongStatus("malformed-json", "malformed_json", (request) => !isWhole(request)),
  wrongStatus("duplicate-key", "malformed_json", (request) => isWhole(request) && !request.text.includes("\\u")),
  wrongStatus("duplicate-key-escaped", "malformed_json", ({ text }) => text.includes("\\u")),
  wrongStatus("invalid-field", "invalid_field"),
  wrongStatus("unknown-operation", "unknown_operation"),
  wrongStatus("body-too-large", "body_too_large"),
  wrongStatus("unsupported-media-type", "unsupported_media_type", ({ operation }) => operation === LOOK_UP),
  wrongStatus("media-type-elsewhere", "unsupported_media_type", ({ operation }) => operation === QUERY),
  wrongStatus("customer-not-found", "customer_not_found"),
  wrongStatus("connection-not-found", "connection_not_found"),
  wrongStatus("checkout-unknown", "checkout_unknown", ({ fields }) => fields["checkoutId"] === "A".repeat(64)),
  wrongStatus("checkout-altered", "checkout_unknown", ({ fields }) => fields["checkoutId"] !== "A".repeat(64)),
  wrongStatus("not-topped-up", "not_topped_up"),
  {
    name: "GET refused as unknown",
    caught: ["method-not-allowed"],
    change: onFailure("method_not_allowed", ({ json }) => {
      json.code = "400ad003";
      json.body.reason = "unknown_operation";
    }),
  },
  {
    name: "a code that is not trimmed",
    caught: ["code-trimmed"],
    change: {
      rewrite: (answer, { text, operation }) => {
        if (operation === LOOK_UP && text.includes(`" ${CODE} "`))
          fail(answer, "customer_not_found", "400aa101", 404, "no");
      },
    },
  },
  {
    name: "leading zeros dropped",
    caught: ["leading-zero"],
    change: {
      rewrite: (answer, { fields }) => {
        if (fields["code"] === `0${CODE}`)
          Object.assign(answer, {
            status: 200,
            json: { success: true, code: "400aa010", body: { customer: { cuid: CODE } } },
          });
      },
    },
  },
  {
    name: "unknown fields refused",
    caught: ["extra-fields"],
    change: {
      rewrite: (answer, { text }) => {
        if (text.includes("x-of-no-meaning")) fail(answer, "malformed_json", "400ad001", 400, "fix_request");
      },
    },
  },
  {
    name: "a connection that is suspended",
    caught: ["status-words"],
    change: onConnections(({ tv }) => {
      tv[1].status = "suspended";
    }),
  },
  {
    name: "an iptv item without username",
    caught: ["iptv-items"],
    change: onConnections(({ iptv }) => {
      iptv.push({ device: "d-1", status: "active" });
    }),
  },
  {
    name: "no look-up by IPTV username",
    caught: ["lookup-by-iptv-username"],
    change: {
      rewrite: (answer, { fields }) => {
        if (fields["code"] === "maya-iptv") fail(answer, "customer_not_found", "400aa101", 404, "no");
      },
    },
  },
  {
    name: "an IPTV listing under another key",
    caught: ["iptv-listing"],
    change: on(LISTING, ({ body }) => {
      if (body.iptv !== undefined) {
        body.internet = body.iptv;
        delete body.iptv;
      }
    }),
  },
  { name: "no tv in v1.0.0", caught: ["services-in-both"], only: "v1.0.0", change: { isTvNew: true } },
  {
    name: "a checkoutId that a URL would break",
    caught: ["checkout-id-form"],
    change: { formCheckoutId: (plain) => `${plain}/+` },
  },
  {
    name: "a checkoutId of 65 characters",
    caught: ["checkout-id-form"],
    change: { formCheckoutId: (plain) => plain.padEnd(65, "x") },
  },
  {
    name: "a name with two periods",
    caught: ["bouquet-one-period"],
    change: onPackages(({ bouquets }) => {
      bouquets[0].name = "Fiber (MONTHLY) (YEARLY)";
    }),
  },
  {
    name: "a period that nobody knows",
    caught: ["bouquet-one-period"],
    change: onPackages(({ bouquets }) => {
      bouquets[0].name = "Fiber (FORTNIGHTLY)";
    }),
  },
  {
    name: "a price of zero",
    caught: ["bouquet-price-positive"],
    change: onPackages(({ bouquets }) => {
      for (const name of ["price", "amt"]) if (name in bouquets[0]) bouquets[0][name] = 0;
    }),
  },
  {
    name: "a code twice",
    caught: ["bouquet-codes-unique"],
    change: onPackages(({ bouquets }) => {
      bouquets.push(bouquets[0]);
    }),
  },
  {
    name: "an add-on without a base",
    caught: ["add-on-needs-base"],
    change: onPackages((packages, { fields }) => {
      if (fields["service"] === "internet") packages.subscriptions = [];
    }),
  },
  {
    name: "another name in v1.0.0",
    caught: ["versions-same-customer"],
    change: on([LOOK_UP, LISTING], ({ body }, { version }) => {
      if (version === "v1.0.0") body.customer.first_name = "Other";
    }),
  },
  {
    name: "fewer bouquets in v1.0.0",
    caught: ["versions-same-packages"],
    change: onPackages(({ bouquets }, { version }) => {
      if (version === "v1.0.0") bouquets.pop();
    }),
  },
];
