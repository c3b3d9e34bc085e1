import { Type } from "typebox";
import { AUDIT_ACTIONS } from "../../domain/audit.ts";
import { DAYS, InstantSchema, oneOf, orNull, PAGE, pageOf } from "../common.ts";

const text = (description: string) => Type.Optional(Type.String({ description }));

export const FilterSchema = Type.Object({
  ...DAYS,
  author: text("Made by this person, or by `key NAME`, a system."),
  action: Type.Optional(oneOf(AUDIT_ACTIONS, "Of this kind.")),
  subject: text("Of this subject, exactly as a list shows it."),
  reason: text("With this reason; each entry of an import is listed by itself."),
  cuid: text("Of this customer; an import shows what it did to this customer."),
  ...PAGE,
});

const ENTRY = {
  seq: Type.Integer({ description: "Counted from 1, without a gap." }),
  at: InstantSchema,
  author: Type.String({ description: "Who did it; `key NAME` if it was a system." }),
  action: Type.String(),
  subject: Type.String({ description: "What was changed." }),
  reason: orNull(Type.String()),
};

export const AuditEntrySchema = Type.Object(
  {
    ...ENTRY,
    parts: Type.Integer({
      description: "How many entries it stands for: more than 1 of an import, which shares its reason with the others.",
    }),
    before: Type.Unknown({ description: "What it was, as far as it changed; null if there was nothing." }),
    after: Type.Unknown({ description: "What it is since then; null if there is nothing." }),
  },
  { title: "AuditEntry" },
);
export const AuditListSchema = pageOf(AuditEntrySchema);

/** An entry with the texts that were hashed. */
export const ExportedAuditEntrySchema = Type.Object(
  { ...ENTRY, before: orNull(Type.String()), after: orNull(Type.String()), hash: Type.String() },
  { title: "ExportedAuditEntry" },
);

export const AuditVerificationSchema = Type.Object(
  {
    entries: Type.Integer({ description: "How many were read." }),
    checkpoint: orNull(Type.String({ description: "The last entry, SEQ:HASH, to keep elsewhere." })),
    problem: orNull(Type.String({ description: "What was changed, removed, moved or cut off; null if nothing was." })),
  },
  { title: "AuditVerification" },
);
