import {
  type Answer,
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
import type { RadiusSession, SessionAnswer, SessionTools } from "../domain/sessions.ts";
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
    async end(session) {
      const { device: name, sessionId } = session;
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
      const ask = async (named: Attributes) => {
        const more = moreAttributes(device, clock());
        return answerOf(name, await devices.endSession(to, { ...named, ...more }, ending.signal));
      };
      const first = await ask(namesOf(device, session));
      if (first !== "unknown" || !isSendable("Acct-Session-Id", sessionId)) return first;
      // The device may know the user by another name: with a realm, for example.
      const second = await ask({ "Acct-Session-Id": sessionId });
      // A device that refuses the shorter request still does not know the session.
      return typeof second === "object" ? "unknown" : second;
    },
    async close() {
      ending.abort();
      devices.close();
      await read.close();
    },
  };
}

function answerOf(device: string, answer: Answer | undefined): SessionAnswer {
  if (answer === undefined) return "silent";
  if (answer.kind === "accepted") return "accepted";
  if (answer.cause === SESSION_NOT_FOUND) return "unknown";
  return { problem: `${device}: refused${answer.cause === undefined ? "" : `, Error-Cause ${answer.cause}`}` };
}

/** What names a session to its device. A value that the session lacks is left out. */
function namesOf(
  { identify }: SessionDevice,
  { username, sessionId, device, framedAddress, caller }: RadiusSession,
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
  return Object.fromEntries(named);
}

function moreAttributes({ attributes, timestamp }: SessionDevice, now: Instant): Attributes {
  return timestamp ? { ...attributes, "Event-Timestamp": String(Math.floor(now / 1000)) } : attributes;
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
