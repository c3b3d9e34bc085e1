import type { Environment } from "../../domain/customer.ts";
import { DAY_MS, type Instant } from "../../domain/wall-time.ts";
import { countHeldBack } from "../../office/imports/sql.ts";
import * as backups from "../../office/maintenance/backups.ts";
import { tokenState } from "../../office/partners/presenter.ts";
import { readLastUses, readTokens } from "../../office/partners/sql.ts";
import type { Ports } from "../ports.ts";
import { listTargets } from "./targets.ts";

/** A target is told within seconds; so long after, somebody should look. */
const BEHIND_AFTER_MS = 60 * 60_000;
/** Of a token that was used in the same span before: its partner needs the next one in time. */
const ENDING_WITHIN_MS = 14 * DAY_MS;
const BACKUP_EVERY_MS = 2 * DAY_MS;

/** What needs somebody's attention. */
export interface AttentionItem {
  readonly kind: "held_back" | "failed_deliveries" | "target_behind" | "token_ending" | "recording_fails" | "no_backup";
  /** How many; undefined where it is not counted. */
  readonly count: number | undefined;
  /** Of which target or partner. */
  readonly subject: string | undefined;
  /** Since when, or, of a token, until when. */
  readonly at: Instant | undefined;
}

export interface AttentionRequest {
  readonly environment: Environment;
  /** Since when no top-up can be recorded; undefined where they can. */
  readonly recordingFailsSince: Instant | undefined;
}

/** The most urgent first; empty where all is well. */
export async function findAttention(
  ports: Pick<Ports, "store" | "clock">,
  { environment, recordingFailsSince }: AttentionRequest,
): Promise<readonly AttentionItem[]> {
  const { store, clock } = ports;
  const now = clock();
  const items: AttentionItem[] = [];
  const add = (kind: AttentionItem["kind"], item: Partial<AttentionItem>) =>
    items.push({ kind, count: undefined, subject: undefined, at: undefined, ...item });
  if (recordingFailsSince !== undefined) add("recording_fails", { at: recordingFailsSince });
  for (const { target, progress } of await listTargets(ports)) {
    const { setAside, behind, failing, oldestAt } = progress;
    if (setAside > 0) add("failed_deliveries", { count: setAside, subject: target.name });
    if (behind + failing > 0 && oldestAt !== undefined && oldestAt < now - BEHIND_AFTER_MS)
      add("target_behind", { count: behind + failing, subject: target.name, at: oldestAt });
  }
  const heldBack = await countHeldBack(store.engine.db, environment);
  if (heldBack > 0) add("held_back", { count: heldBack });
  // Trial tokens end every week, and databases without a production catalogue hold nothing that anybody would miss.
  const uses = await readLastUses(store.engine.db);
  for (const token of await readTokens(store.engine.db)) {
    const { id, expiresAt, partner } = token;
    const isInUse = tokenState(token, now) === "valid" && (uses.get(id) ?? 0) >= now - ENDING_WITHIN_MS;
    if (token.environment === "production" && isInUse && expiresAt !== undefined && expiresAt < now + ENDING_WITHIN_MS)
      add("token_ending", { subject: partner.name, at: expiresAt });
  }
  const lastBackupAt = await backups.lastBackupAt(store.engine.db);
  const isBackupDue = lastBackupAt === undefined || lastBackupAt < now - BACKUP_EVERY_MS;
  if (isBackupDue && (await store.currentCatalogue("production")) !== undefined) add("no_backup", { at: lastBackupAt });
  return items;
}
