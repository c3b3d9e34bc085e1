import type { AccessToken, Partner, PartnerStatus } from "../../domain/access-token.ts";
import { AddressList } from "../../domain/address-list.ts";
import type { Environment } from "../../domain/customer.ts";

/* Partners and their tokens as every store has them, by the names that the stores' queries give the columns. */

export interface PartnerRow {
  partner_id: number;
  partner_name: string;
  partner_status: PartnerStatus;
  partner_created_at: number;
  /** A JSON list, or null. */
  partner_allowed_addresses: string | null;
}

export interface AccessTokenRow extends PartnerRow {
  id: string;
  environment: Environment;
  created_at: number;
  expires_at: number | null;
  revoked_at: number | null;
  replaced_by: string | null;
}

export function toPartner(row: PartnerRow): Partner {
  const { partner_allowed_addresses: allowed } = row;
  return {
    id: row.partner_id,
    name: row.partner_name,
    status: row.partner_status,
    createdAt: row.partner_created_at,
    allowedAddresses: allowed === null ? undefined : new AddressList(JSON.parse(allowed) as string[]),
  };
}

export function toAccessToken(row: AccessTokenRow): AccessToken {
  return {
    id: row.id,
    partner: toPartner(row),
    environment: row.environment,
    createdAt: row.created_at,
    expiresAt: row.expires_at ?? undefined,
    revokedAt: row.revoked_at ?? undefined,
    replacedBy: row.replaced_by ?? undefined,
  };
}
