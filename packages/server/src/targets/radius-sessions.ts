import {
  ATTRIBUTE_NAMES,
  type AttributeName,
  type Attributes,
  Devices,
  isSendable,
  RadiusSessions,
  SESSION_NOT_FOUND,
} from "@topupd/radius";
import { canonicalAddress } from "../domain/address-list.ts";
import type { FieldProblem } from "../domain/fields.ts";
import { readRadiusAddress } from "../domain/radius.ts";
import { deviceOf, type SessionAttribute } from "../domain/session-devices.ts";
import type { RadiusSession, SessionTools } from "../domain/sessions.ts";
import { DeliveryFailed, type RadiusConfig, type SessionDevice } from "../domain/target.ts";
import type { Instant } from "../domain/wall-time.ts";
import type { AddressGuard } from "./address-guard.ts";

interface Place {
  readonly clock: () => Instant;
  readonly guard: AddressGuard;
  /** The waits of Devices, for tests. */
  readonly waitsMs?: readonly number[];
}

/** Reads the sessions of a RADIUS target, and asks its devices to end them. */
export function createSessionTools(config: RadiusConfig, { clock, guard, waitsMs }: Place): SessionTools {
  const address = readRadiusAddress(config.database);
  if (typeof address === "string") throw new Error(`the RADIUS database ${address}`);
  const { sessions } = config;
  const read = new RadiusSessions(address, { application: "topupd", lookup: guard.lookup });
  const devices = new Devices(waitsMs);
  const ending = new AbortController();
  const refusePrivate = () => guard.refuseLiteral(address.host);
  return {
    async open(usernames) {
      refusePrivate();
      return read.open(usernames);
    },
    async states(ids) {
      refusePrivate();
      return read.states(ids);
    },
    // biome-ignore lint/complexity/noExcessiveCognitiveComplexity: its steps are one request and its answer
    async end(username, session) {
      const { device: name } = session;
      const device = sessions && deviceOf(sessions, name);
      if (device === undefined) return { problem: `no device for ${name}` };
      const to = {
        address: device.address ?? canonicalAddress(name) ?? name,
        port: device.port,
        secret: device.secret,
      };
      try {
        guard.refuseLiteral(to.address);
      } catch (error) {
        if (!(error instanceof DeliveryFailed)) throw error;
        return { problem: `${name}: ${error.message}` };
      }
      const answer = await devices.endSession(to, attributesOf(device, username, session, clock()), ending.signal);
      if (answer === undefined) return "silent";
      if (answer.kind === "accepted") return "accepted";
      if (answer.cause === SESSION_NOT_FOUND) return "unknown";
      return { problem: `${name}: refused${answer.cause === undefined ? "" : `, Error-Cause ${answer.cause}`}` };
    },
    async close() {
      ending.abort();
      devices.close();
      await read.close();
    },
  };
}

/** A value that the session lacks is left out. */
function attributesOf(
  { identify, attributes, timestamp }: SessionDevice,
  username: string,
  { sessionId, device, framedAddress, caller }: RadiusSession,
  now: Instant,
): Attributes {
  const values: Readonly<Record<SessionAttribute, string | undefined>> = {
    "User-Name": username,
    "Acct-Session-Id": sessionId,
    "Framed-IP-Address": framedAddress,
    "Calling-Station-Id": caller,
    "NAS-IP-Address": device,
  };
  const named = (identify as readonly SessionAttribute[]).flatMap((name) => {
    const value = values[name];
    return value !== undefined && isSendable(name, value) ? [[name, value]] : [];
  });
  const at = timestamp ? { "Event-Timestamp": String(Math.floor(now / 1000)) } : {};
  return { ...Object.fromEntries(named), ...attributes, ...at };
}

/** Why devices cannot be asked as configured; undefined if they can. */
export async function deviceProblem(
  { sessions }: RadiusConfig,
  guard: AddressGuard,
): Promise<FieldProblem | undefined> {
  for (const [range, { address = range, attributes }] of Object.entries(sessions?.devices ?? {})) {
    const field = `radius.sessions.devices.${range}`;
    for (const [name, value] of Object.entries(attributes)) {
      const problem = attributeProblem(name, value);
      if (problem !== undefined) return { field: `${field}.attributes.${name}`, problem };
    }
    // The addresses of a range are checked when they are used.
    const problem = address.includes("/") ? undefined : await guard.problemOf(address);
    if (problem !== undefined) return { field, problem };
  }
  return undefined;
}

function attributeProblem(name: string, value: string): string | undefined {
  if (!ATTRIBUTE_NAMES.includes(name as AttributeName)) return `must be one of ${ATTRIBUTE_NAMES.join(", ")}`;
  return isSendable(name as AttributeName, value) ? undefined : "has a value that this attribute cannot have";
}
