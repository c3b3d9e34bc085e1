import { Type } from "typebox";
import { AUDIT_ACTIONS } from "../../../domain/audit.ts";
import { isoTime } from "../../../domain/wall-time.ts";
import {
  DAYS,
  daysOf,
  InstantSchema,
  limitOf,
  numberCursor,
  oneOf,
  orNull,
  PAGE,
  pageOf,
} from "../../../office/common.ts";
import { listAudit } from "../../../services/staff/audit.ts";
import type { ListedAuditEntry } from "../../../store/search.ts";
import { route } from "../route.ts";

export const AuditEntrySchema = Type.Object(
  {
    seq: Type.Integer({ description: "Counted from 1, without a gap." }),
    at: InstantSchema,
    author: Type.String({ description: "Who did it; `key NAME` where it was a system." }),
    action: Type.String(),
    subject: Type.String({ description: "What was changed." }),
    reason: orNull(Type.String()),
    parts: Type.Integer({
      description: "How many entries it stands for: more than 1 of an import, which shares its reason with the others.",
    }),
    before: Type.Unknown({ description: "What it was, as far as it changed; null where there was nothing." }),
    after: Type.Unknown({ description: "What it is since then; null where there is nothing." }),
  },
  { title: "AuditEntry" },
);

export const auditRoutes = [
  route({
    ...{ method: "GET", path: "/audit", tag: "Audit trail", permission: "read" },
    summary: "List what staff and imports have changed, newest first",
    query: Type.Object({
      author: Type.Optional(Type.String({ description: "Made by this person; `key NAME` for a system." })),
      action: Type.Optional(oneOf(AUDIT_ACTIONS)),
      subject: Type.Optional(Type.String({ description: "Of this subject, just as a list shows it." })),
      reason: Type.Optional(
        Type.String({ description: "With this reason, each entry by itself: so all entries of an import are listed." }),
      ),
      cuid: Type.Optional(Type.String({ description: "Of this customer, and of an import what it did to this one." })),
      ...DAYS,
      ...PAGE,
    }),
    answer: pageOf(AuditEntrySchema),
    async handle(ports, { query }) {
      const { author, action, subject, reason, cuid } = query;
      const filter = { author, action, subject, reason, cuid, upTo: numberCursor(query), ...daysOf(ports, query) };
      const { entries, next } = await listAudit(ports, { filter, limit: limitOf(query) });
      return { items: entries.map(entryData), cursor: next === undefined ? null : String(next) };
    },
  }),
];

function entryData({ seq, at, author, action, subject, reason, parts, before, after }: ListedAuditEntry) {
  const texts = { before: parsed(before), after: parsed(after) };
  return { ...{ seq, at: isoTime(at), author, action, subject, reason: reason ?? null, parts }, ...texts };
}

function parsed(text: string | undefined): unknown {
  return text === undefined ? null : JSON.parse(text);
}
