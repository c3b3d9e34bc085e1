import type { IncomingMessage } from "node:http";
import type { AddressList, Peer } from "../domain/address-list.ts";

/**
 * From where a request comes: its connection's address, unless that is a trusted proxy's. Then X-Forwarded-For is
 * read from right to left, and the first entry that is no trusted proxy's is the caller's address. An entry that is
 * empty was written by a proxy that did not know: what is to its left, anybody may have put there.
 */
export class RequestPeer implements Peer {
  readonly #request: IncomingMessage;
  readonly #trustedProxies: AddressList | undefined;

  constructor(request: IncomingMessage, trustedProxies: AddressList | undefined) {
    this.#request = request;
    this.#trustedProxies = trustedProxies;
  }

  get ip(): string | undefined {
    const { socket, headers } = this.#request;
    const { remoteAddress } = socket;
    const forwarded = headers["x-forwarded-for"];
    const trusted = this.#trustedProxies;
    if (trusted === undefined || forwarded === undefined || !trusted.has(remoteAddress)) return remoteAddress;
    // Node joins several lines of it into one.
    return callerIn(String(forwarded), trusted);
  }
}

/** @returns undefined where the header ends in nothing that is known. */
function callerIn(forwarded: string, trustedProxies: AddressList): string | undefined {
  const entries = forwarded.split(",").map((entry) => entry.trim());
  const caller = entries.findLast((entry) => entry === "" || !trustedProxies.has(entry)) ?? entries[0];
  return caller === "" ? undefined : caller;
}
