import { eventId } from "../../domain/event.ts";
import type { RadiusDifference } from "../../domain/radius.ts";
import { addressOf } from "../../domain/target.ts";
import type { FailedDelivery, ShownTarget, TargetStatus } from "../../services/staff/targets.ts";
import { count, fieldLines, isoTime, isoTimeOrNull, printable } from "./text.ts";

/* Targets, and what they did not take. Nothing here is secret: addresses have no password and no query. */

export const TARGET_COLUMNS = [
  ...["name", "kind", "address", "books", "paused", "behind", "failing", "setAside", "oldestAt"],
];

/** `oldestAt`: when the oldest event happened that the target does not have. */
export function targetRow({ target, progress }: TargetStatus) {
  const { id, name, config, books, paused, createdAt } = target;
  const { behind, failing, setAside, oldestAt } = progress;
  return {
    ...{ id, name, kind: config.kind, address: addressOf(config) ?? null, books, paused },
    ...{ createdAt: isoTime(createdAt), behind, failing, setAside, oldestAt: isoTimeOrNull(oldestAt) },
  };
}

export function shownJson(shown: ShownTarget) {
  const acknowledgedUntil = isoTimeOrNull(shown.acknowledgedUntil);
  return { ...targetRow(shown), ...configJson(shown), acknowledgedUntil };
}

/** What a kind has for itself. */
function configJson({ target: { config, secrets } }: ShownTarget) {
  switch (config.kind) {
    case "webhook":
      return { allowPrivate: config.allowPrivate, formerSecretUntil: isoTimeOrNull(secrets[1]?.until) };
    case "radius": {
      const { timeZone, groups, defaultGroup = null, services } = config;
      return { timeZone, groups, defaultGroup, services };
    }
    case "feed":
      return {};
  }
}

export function shownWords(shown: ShownTarget): string {
  const { name, kind, address, books, paused, behind, failing, setAside, oldestAt } = targetRow(shown);
  const [until, { config }] = [isoTimeOrNull(shown.acknowledgedUntil), shown.target];
  const groups = config.kind === "radius" ? Object.entries(config.groups).map((pair) => pair.join(" ")) : [];
  return fieldLines([
    ["name", name],
    ["kind", books ? `${kind}, of your billing` : kind],
    ["address", address ?? undefined],
    ["time zone", config.kind === "radius" ? config.timeZone : undefined],
    ...groups.map((group) => ["group", group] as const),
    ["state", paused ? "paused" : "runs"],
    ["behind", count(behind, "event")],
    ["failing", count(failing, "event")],
    ["set aside", count(setAside, "event")],
    ["oldest", oldestAt ?? undefined],
    ["acknowledged", books ? (until === null ? "not yet" : `until ${until}`) : undefined],
  ]);
}

export const FAILED_COLUMNS = ["event", "kind", "connection", "attempts", "next", "problem"];

export function failedRow({ event, attempts, nextAt, setAside, problem }: FailedDelivery) {
  const { cuid, service, reqId, environment } = event.key;
  const trial = environment === "trial" ? " (trial)" : "";
  return {
    ...{ event: eventId(event), kind: event.kind, connection: `${cuid} ${service} ${reqId}${trial}`, attempts },
    ...{ next: setAside ? "set aside" : isoTime(nextAt), problem: problem ?? null },
  };
}

export function failedJson({ event, attempts, failedAt, nextAt, setAside, problem }: FailedDelivery) {
  const { environment, cuid, service, reqId } = event.key;
  return {
    ...{ id: eventId(event), kind: event.kind, environment, cuid, service, reqId, attempts },
    ...{ failedAt: isoTimeOrNull(failedAt), nextAt: isoTime(nextAt), setAside, problem: problem ?? null },
  };
}

export function differenceJson({ username, kind, found, wanted }: RadiusDifference) {
  return { username, kind, found: found.map(({ value }) => value), wanted: wanted ?? null };
}

export function differenceWords(difference: RadiusDifference): string {
  const { username, kind, found, wanted } = differenceJson(difference);
  const had = found.length === 0 ? "nothing" : found.join(", ");
  return `${printable(`${username}  ${kind}: ${had} -> ${wanted ?? "nothing"}`)}\n`;
}
