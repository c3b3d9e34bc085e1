import { eventId } from "../../../domain/event.ts";
import type { RadiusDifference } from "../../../domain/radius.ts";
import { isoTime, isoTimeOrNull } from "../../../domain/wall-time.ts";
import { count, fieldLines, printable } from "../../../office/text.ts";
import { targetData } from "../../../services/staff/data.ts";
import type { FailedDelivery, ShownTarget } from "../../../services/staff/targets.ts";

/* Targets, and what they did not take, in words. */

export const TARGET_COLUMNS = [
  ...["name", "kind", "service", "address", "books", "paused", "behind", "failing", "setAside", "oldestAt"],
];

export function shownJson(shown: ShownTarget) {
  const acknowledgedUntil = isoTimeOrNull(shown.acknowledgedUntil);
  return { ...targetData(shown), ...configJson(shown), acknowledgedUntil };
}

/** What a kind has for itself. */
function configJson({ target: { config, secrets } }: ShownTarget) {
  switch (config.kind) {
    case "webhook":
      return { allowPrivate: config.allowPrivate, formerSecretUntil: isoTimeOrNull(secrets[1]?.until) };
    case "radius": {
      const { timeZone, groups, defaultGroup = null } = config;
      return { timeZone, groups, defaultGroup };
    }
    case "feed":
      return {};
  }
}

export function shownWords(shown: ShownTarget): string {
  const { name, kind, service, address, books, paused, behind, failing, setAside, oldestAt } = targetData(shown);
  const [until, { config }] = [isoTimeOrNull(shown.acknowledgedUntil), shown.target];
  const groups = config.kind === "radius" ? Object.entries(config.groups).map((pair) => pair.join(" ")) : [];
  return fieldLines([
    ["name", name],
    ["kind", books ? `${kind}, of your billing` : kind],
    ["service", service ?? undefined],
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

export function differenceJson({ username, kind, found, wanted }: RadiusDifference) {
  return { username, kind, found: found.map(({ value }) => value), wanted: wanted ?? null };
}

export function differenceWords(difference: RadiusDifference): string {
  const { username, kind, found, wanted } = differenceJson(difference);
  const had = found.length === 0 ? "nothing" : found.join(", ");
  return `${printable(`${username}  ${kind}: ${had} -> ${wanted ?? "nothing"}`)}\n`;
}
