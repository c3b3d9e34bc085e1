import type { Static } from "typebox";
import type { ProviderSettings } from "../../store/store.ts";
import type { Shown } from "../operation.ts";
import { printable, table } from "../text.ts";
import type { AccessTokenSchema, IssuedTokenSchema, RotatedTokenSchema } from "./schemas.ts";

type AccessToken = Static<typeof AccessTokenSchema>;

const TIMES = ["createdAt", "expiresAt", "revokedAt", "lastUsedAt"] as const;

/** Times are the provider's wall times, so that a token's last day is the day that was asked for. */
export function tokenTable({ items }: { readonly items: readonly AccessToken[] }, provider: ProviderSettings): Shown {
  const rows = items.map((token) => {
    const inZone = TIMES.map((name) => [name, wallTime(token[name], provider)]);
    return { ...token, ...Object.fromEntries(inZone) };
  });
  return { out: table(["id", "partner", "environment", "state", ...TIMES], rows) };
}

export function tokenLines(token: AccessToken, provider: ProviderSettings): Shown {
  return tokenTable({ items: [token] }, provider);
}

/** Only the token goes to stdout, so that a shell can use it. */
export function issuedLines(issued: Static<typeof IssuedTokenSchema>, provider: ProviderSettings): Shown {
  const { token, id, partner, environment, expiresAt } = issued;
  const end = expiresAt === null ? "until it is revoked" : `until ${wallTime(expiresAt, provider)}`;
  const of = `a ${environment} token of ${printable(partner)}, has the id ${id}, and is valid ${end}`;
  return { out: `${token}\n`, note: `This is the only time that the token is shown. It is ${of}.\n` };
}

export function rotatedLines(rotated: Static<typeof RotatedTokenSchema>, provider: ProviderSettings): Shown {
  const { out, note } = issuedLines(rotated, provider);
  const until = wallTime(rotated.formerUntil, provider);
  return { out, note: `${note}The old token ${rotated.formerId} is valid until ${until}.\n` };
}

function wallTime(time: string | null, { zone }: ProviderSettings): string | null {
  return time === null ? null : zone.wallTime(Date.parse(time));
}
