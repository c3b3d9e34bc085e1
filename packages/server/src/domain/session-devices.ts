import { AddressList, canonicalAddress, readAddressRange } from "./address-list.ts";
import type { FieldReader } from "./fields.ts";
import { isJsonObject, type JsonValue } from "./json.ts";
import type { SessionDevice, SessionsConfig } from "./target.ts";

/** Attributes that a session in radacct has (RFC 2865, 2866). */
export const SESSION_ATTRIBUTES = [
  ...(["User-Name", "Acct-Session-Id", "Framed-IP-Address"] as const),
  ...(["Calling-Station-Id", "NAS-IP-Address"] as const),
] as const;
export type SessionAttribute = (typeof SESSION_ATTRIBUTES)[number];
const DEFAULT_IDENTIFY: readonly SessionAttribute[] = ["User-Name", "Acct-Session-Id", "Framed-IP-Address"];

/** The port of RFC 5176. */
const DEFAULT_PORT = 3799;
const LONGEST_WAIT_SECONDS = 3_600;
const SECRET = { maxLength: 200 };
const VALUE = { maxLength: 253 };

/** Reads `sessions` of a RADIUS target's file. @param given its value. @returns undefined if there is none. */
export function readSessions(file: FieldReader, given: JsonValue | undefined): SessionsConfig | undefined {
  if (!file.has("sessions")) return undefined;
  return file.object("sessions", (sessions) => {
    const all = isJsonObject(given) ? given["devices"] : undefined;
    const waitSeconds = sessions.optionalInteger("waitSeconds", [0, LONGEST_WAIT_SECONDS]) ?? 0;
    const devices = sessions.object("devices", (list) => {
      const read = Object.entries(isJsonObject(all) ? all : {}).flatMap(([name, value]) => {
        const range = readAddressRange(name);
        const device = list.object(name, (fields) => readDevice(fields, value));
        if (typeof range !== "string") return list.problem(name, range.problem) ?? [];
        return device === undefined ? [] : [[range, device] as const];
      });
      return Object.fromEntries(read);
    });
    return { waitSeconds, devices: devices ?? {} };
  });
}

function readDevice(fields: FieldReader, given: JsonValue): SessionDevice {
  const typed = fields.optionalText("address", { maxLength: 64 });
  // Answers are found by the address as the system writes it.
  const address = typed === undefined ? typed : canonicalAddress(typed);
  if (typed !== undefined && address === undefined) fields.problem("address", "must be an IP address");
  const identify = fields.has("identify") ? fields.labels("identify") : DEFAULT_IDENTIFY;
  if (!identify.every((name) => SESSION_ATTRIBUTES.some((each) => each === name)))
    fields.problem("identify", `must have names of ${SESSION_ATTRIBUTES.join(", ")}`);
  const fixed = isJsonObject(given) && isJsonObject(given["attributes"]) ? Object.keys(given["attributes"]) : [];
  const read = (list: FieldReader) => Object.fromEntries(fixed.map((name) => [name, list.text(name, VALUE)]));
  return {
    address,
    port: fields.optionalInteger("port", [1, 65_535]) ?? DEFAULT_PORT,
    secret: fields.text("secret", SECRET),
    identify,
    attributes: (fields.has("attributes") ? fields.object("attributes", read) : undefined) ?? {},
    timestamp: fields.flag("timestamp"),
  };
}

/** The device of a session: that of its address, else that of the first range with it. */
export function deviceOf({ devices }: SessionsConfig, address: string): SessionDevice | undefined {
  const canonical = canonicalAddress(address) ?? address;
  if (Object.hasOwn(devices, canonical)) return devices[canonical];
  const range = Object.keys(devices).find((each) => new AddressList([each]).has(canonical));
  return range === undefined ? undefined : devices[range];
}
