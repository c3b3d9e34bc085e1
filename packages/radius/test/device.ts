import { createHash } from "node:crypto";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { onTestFinished } from "vitest";

/** The code and attributes of a device's answer; undefined: it is silent. */
export type Reply = { readonly code: number; readonly attributes?: readonly (readonly [number, Buffer])[] } | undefined;

/** A device that answers as told, sealed with `secret`. `requests` are the packets that it got. */
export async function startDevice(secret: string, replyTo: (request: Buffer, count: number) => Reply) {
  const socket = createSocket("udp4");
  const requests: Buffer[] = [];
  socket.on("message", (request, { port, address }) => {
    requests.push(request);
    const reply = replyTo(request, requests.length);
    if (reply !== undefined) socket.send(sealedReply(request, reply, secret), port, address);
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  onTestFinished(() => {
    socket.close();
  });
  return { requests, device: { address: "127.0.0.1", port: socket.address().port, secret } };
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
