import { createHash } from "node:crypto";
import { createSocket, type RemoteInfo } from "node:dgram";
import { once } from "node:events";
import { onTestFinished } from "vitest";

/** The code and attributes of a device's answer; undefined: it is silent. */
export type Reply = { readonly code: number; readonly attributes?: readonly (readonly [number, Buffer])[] } | undefined;

/** A device that answers as told, sealed with `secret`. `requests` are the packets that it got. */
export async function startDevice(secret: string, replyTo: (request: Buffer, count: number) => Reply) {
  const requests: Buffer[] = [];
  const { device, close } = await openDevice(secret, (request) => replyTo(request, requests.push(request)));
  onTestFinished(close);
  return { requests, device };
}

/** The same, which also answers late, until it is closed. @param replyTo gets the port of the sender. */
export async function openDevice(secret: string, replyTo: (request: Buffer, port: number) => Reply | Promise<Reply>) {
  const socket = createSocket("udp4");
  let isClosed = false;
  const answer = async (request: Buffer, { port, address }: RemoteInfo) => {
    const reply = await replyTo(request, port);
    if (reply !== undefined && !isClosed) socket.send(sealedReply(request, reply, secret), port, address);
  };
  socket.on("message", (request, from) => void answer(request, from));
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  const close = () => {
    isClosed = true;
    socket.close();
  };
  return { device: { address: "127.0.0.1", port: socket.address().port, secret }, close };
}

/** The attributes of a request, by their types. */
export function attributesOf(request: Buffer): Readonly<Record<number, string>> {
  const found: Record<number, string> = {};
  for (let at = 20; at < request.length; at += request[at + 1] ?? 0)
    found[request[at] ?? 0] = request.subarray(at + 2, at + (request[at + 1] ?? 0)).toString("latin1");
  return found;
}

/** A refusal with an Error-Cause (RFC 5176, section 3.5). */
export function refusedWith(cause: number): Reply {
  return { code: 42, attributes: [[101, Buffer.from([0, 0, cause >> 8, cause & 255])]] };
}

/** An answer to a request (RFC 2865, section 3). */
export function sealedReply(request: Buffer, reply: NonNullable<Reply>, secret: string): Buffer {
  const { code, attributes = [] } = reply;
  const parts = attributes.map(([type, value]) => Buffer.concat([Buffer.from([type, value.length + 2]), value]));
  const packet = Buffer.concat([Buffer.from([code, request[1] ?? 0, 0, 0]), request.subarray(4, 20), ...parts]);
  packet.writeUInt16BE(packet.length, 2);
  createHash("md5").update(packet).update(secret).digest().copy(packet, 4);
  return packet;
}
