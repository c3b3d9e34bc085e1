import type { Instant } from "../domain/wall-time.ts";

/** When a version is given up. Never, unless the provider sets it (decisions, "Versions"). */
export interface Retirement {
  readonly deprecatedAt: Instant | undefined;
  readonly sunsetAt: Instant | undefined;
}

export const NOT_RETIRED: Retirement = { deprecatedAt: undefined, sunsetAt: undefined };

/** The headers that tell partners so: RFC 9745, RFC 8594 and the link relation of RFC 5829. */
export function retirementHeaders({ deprecatedAt, sunsetAt }: Retirement, successor: string): Record<string, string> {
  if (deprecatedAt === undefined && sunsetAt === undefined) return {};
  return {
    ...(deprecatedAt !== undefined && { deprecation: `@${Math.floor(deprecatedAt / 1000)}` }),
    ...(sunsetAt !== undefined && { sunset: new Date(sunsetAt).toUTCString() }),
    link: `<${successor}>; rel="successor-version"`,
  };
}
