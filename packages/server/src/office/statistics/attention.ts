import { type Static, Type } from "typebox";
import { DAY_MS, isoTime, isoTimeOrNull } from "../../domain/wall-time.ts";
import { ENVIRONMENT, environmentOf, oneOf, orNull } from "../common.ts";
import { countHeldBack } from "../imports/sql.ts";
import { lastBackupAt } from "../maintenance/backups.ts";
import { operation } from "../operation.ts";
import { tokenState } from "../partners/presenter.ts";
import { readLastUses, readTokens } from "../partners/sql.ts";
import { statusesOf } from "../targets/presenter.ts";

/** A target gets an event within seconds; so long after, staff should look. */
const BEHIND_AFTER_MS = 60 * 60_000;
/** If a token was used in the same span before, its partner needs the next one in time. */
const ENDING_WITHIN_MS = 14 * DAY_MS;
const BACKUP_EVERY_MS = 2 * DAY_MS;

const KINDS = [
  "held_back",
  "failed_deliveries",
  "target_behind",
  "token_ending",
  "recording_fails",
  "no_backup",
] as const;

const AttentionItemSchema = Type.Object(
  {
    kind: oneOf(KINDS),
    count: orNull(Type.Integer()),
    subject: orNull(Type.String({ description: "The target, or the partner of a token." })),
    at: orNull(Type.String({ description: "Since when; until when for a token." })),
  },
  { title: "AttentionItem" },
);
type AttentionItem = Static<typeof AttentionItemSchema>;

export const listAttention = operation({
  ...{ tag: "Overview", permission: "read", http: "GET /attention" },
  summary: "List what needs attention, the most urgent first",
  input: Type.Object(ENVIRONMENT),
  answer: Type.Object({ items: Type.Array(AttentionItemSchema) }),
  async run(office, input) {
    const { store, clock, recordingFailsSince } = office;
    const environment = await environmentOf(office, input);
    const now = clock();
    const items: AttentionItem[] = [];
    const add = (kind: AttentionItem["kind"], item: Partial<AttentionItem>) =>
      items.push({ kind, count: null, subject: null, at: null, ...item });
    if (recordingFailsSince !== undefined) add("recording_fails", { at: isoTime(recordingFailsSince) });
    for (const { target, progress } of await statusesOf(store.engine.db)) {
      const { setAside, behind, failing, oldestAt } = progress;
      const subject = target.name;
      if (setAside > 0) add("failed_deliveries", { count: setAside, subject });
      if (behind + failing > 0 && oldestAt !== undefined && oldestAt < now - BEHIND_AFTER_MS)
        add("target_behind", { count: behind + failing, subject, at: isoTime(oldestAt) });
    }
    const heldBack = await countHeldBack(store.engine.db, environment);
    if (heldBack > 0) add("held_back", { count: heldBack });
    // Trial tokens end every week, and databases without a production catalogue hold nothing that anybody would miss.
    const uses = await readLastUses(store.engine.db);
    for (const token of await readTokens(store.engine.db)) {
      const { id, expiresAt, partner } = token;
      const isInUse = tokenState(token, now) === "valid" && (uses.get(id) ?? 0) >= now - ENDING_WITHIN_MS;
      const isEnding = expiresAt !== undefined && expiresAt < now + ENDING_WITHIN_MS;
      if (token.environment === "production" && isInUse && isEnding)
        add("token_ending", { subject: partner.name, at: isoTime(expiresAt) });
    }
    const backedUpAt = await lastBackupAt(store.engine.db);
    const isBackupDue = backedUpAt === undefined || backedUpAt < now - BACKUP_EVERY_MS;
    if (isBackupDue && (await store.currentCatalogue("production")) !== undefined)
      add("no_backup", { at: isoTimeOrNull(backedUpAt) });
    return { items };
  },
});
