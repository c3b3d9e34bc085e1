import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { isIPv4 } from "node:net";

/* The packets of RFC 5176 that ask a device to end a session. */

const DISCONNECT_REQUEST = 40;
const DISCONNECT_ACK = 41;
const DISCONNECT_NAK = 42;
const HEADER_LENGTH = 20;
const AUTHENTICATOR_AT = 4;
const MOST_VALUE_BYTES = 253;
const MESSAGE_AUTHENTICATOR = 80;
const ERROR_CAUSE = 101;

/** The device knows no such session (RFC 5176, section 3.5). */
export const SESSION_NOT_FOUND = 503;

type Form = "text" | "address" | "number";

/** Attributes that can name a session or its device, with their types and forms (RFC 2865, 2866, 2869). */
const ATTRIBUTES = {
  "User-Name": [1, "text"],
  "NAS-IP-Address": [4, "address"],
  "NAS-Port": [5, "number"],
  "Service-Type": [6, "number"],
  "Framed-IP-Address": [8, "address"],
  "Called-Station-Id": [30, "text"],
  "Calling-Station-Id": [31, "text"],
  "NAS-Identifier": [32, "text"],
  "Acct-Session-Id": [44, "text"],
  "Event-Timestamp": [55, "number"],
  "NAS-Port-Id": [87, "text"],
} as const satisfies Readonly<Record<string, readonly [type: number, form: Form]>>;

export type AttributeName = keyof typeof ATTRIBUTES;
export const ATTRIBUTE_NAMES = Object.keys(ATTRIBUTES) as AttributeName[];
/** Values as text: an IPv4 address, a number from 0 to 2^32 - 1, or a text of 1 to 253 bytes. */
export type Attributes = Partial<Readonly<Record<AttributeName, string>>>;

/** Whether a value can be sent. */
export function isSendable(name: AttributeName, value: string): boolean {
  return encode(name, value) !== undefined;
}

function encode(name: AttributeName, value: string): Buffer | undefined {
  const [, form] = ATTRIBUTES[name];
  if (form === "address") return isIPv4(value) ? Buffer.from(value.split(".").map(Number)) : undefined;
  if (form === "text") {
    const bytes = Buffer.from(value, "utf8");
    return bytes.length > 0 && bytes.length <= MOST_VALUE_BYTES ? bytes : undefined;
  }
  const number = Number(value);
  if (!/^\d{1,10}$/.test(value) || number >= 2 ** 32) return undefined;
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(number);
  return bytes;
}

/**
 * A Disconnect-Request with a Message-Authenticator at its end.
 * @param identifier 0 to 255, new among the open requests to this device. @throws TypeError if a value cannot be sent.
 */
export function disconnectRequest(identifier: number, attributes: Attributes, secret: string): Buffer {
  const parts = (Object.entries(attributes) as [AttributeName, string][]).map(([name, value]) => {
    const bytes = encode(name, value);
    if (bytes === undefined) throw new TypeError(`${name} cannot have this value`);
    return Buffer.concat([Buffer.from([ATTRIBUTES[name][0], bytes.length + 2]), bytes]);
  });
  const seal = Buffer.concat([Buffer.from([MESSAGE_AUTHENTICATOR, 18]), Buffer.alloc(16)]);
  const packet = Buffer.concat([Buffer.alloc(HEADER_LENGTH), ...parts, seal]);
  packet.writeUInt8(DISCONNECT_REQUEST, 0);
  packet.writeUInt8(identifier, 1);
  packet.writeUInt16BE(packet.length, 2);
  // Both authenticators are computed over zeros in place of themselves, this one first (RFC 5176, sections 2.3 and 3.4).
  createHmac("md5", secret)
    .update(packet)
    .digest()
    .copy(packet, packet.length - 16);
  createHash("md5").update(packet).update(secret).digest().copy(packet, AUTHENTICATOR_AT);
  return packet;
}

/** The device's answer. `accepted` is a promise to end the session. */
export type Answer =
  | { readonly kind: "accepted" }
  /** `cause`: the Error-Cause, if there is one. */
  | { readonly kind: "refused"; readonly cause: number | undefined };

/** Reads the answer to a request; undefined if it is not its answer, or another secret sealed it. */
export function readAnswer(packet: Buffer, request: Buffer, secret: string): Answer | undefined {
  if (packet.length < HEADER_LENGTH || packet[1] !== request[1]) return undefined;
  const length = packet.readUInt16BE(2);
  if (length < HEADER_LENGTH || length > packet.length) return undefined;
  const whole = Buffer.from(packet.subarray(0, length));
  const answered = Buffer.from(whole.subarray(AUTHENTICATOR_AT, HEADER_LENGTH));
  request.copy(whole, AUTHENTICATOR_AT, AUTHENTICATOR_AT, HEADER_LENGTH);
  const expected = createHash("md5").update(whole).update(secret).digest();
  const attributes = readAttributes(whole);
  if (!timingSafeEqual(expected, answered) || attributes === undefined) return undefined;
  const seal = attributes.find(({ type }) => type === MESSAGE_AUTHENTICATOR)?.value;
  if (seal !== undefined && !isSealed(whole, seal, secret)) return undefined;
  if (whole[0] === DISCONNECT_ACK) return { kind: "accepted" };
  if (whole[0] !== DISCONNECT_NAK) return undefined;
  const cause = attributes.find(({ type, value }) => type === ERROR_CAUSE && value.length === 4)?.value;
  return { kind: "refused", cause: cause?.readUInt32BE() };
}

/** Undefined if the lengths do not fit. The values are parts of the packet. */
function readAttributes(packet: Buffer): { readonly type: number; readonly value: Buffer }[] | undefined {
  const found = [];
  for (let at = HEADER_LENGTH; at < packet.length; ) {
    const [type = 0, length = 0] = packet.subarray(at, at + 2);
    if (length < 2 || at + length > packet.length) return undefined;
    found.push({ type, value: packet.subarray(at + 2, at + length) });
    at += length;
  }
  return found;
}

/** @param packet with the request's authenticator; its seal is set to zeros. */
function isSealed(packet: Buffer, seal: Buffer, secret: string): boolean {
  const given = Buffer.from(seal);
  seal.fill(0);
  const expected = createHmac("md5", secret).update(packet).digest();
  return given.length === expected.length && timingSafeEqual(given, expected);
}
