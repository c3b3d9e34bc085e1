/** Of PostgreSQL's protocol; a client's first one has no type. */
export interface Message {
  readonly type: string;
  readonly bytes: Buffer;
}

/** Cuts a stream into messages: a type, then the length of the rest, which counts itself. */
export class Framing {
  #rest = Buffer.alloc(0);
  #hasType: boolean;

  constructor(sender: "client" | "server") {
    this.#hasType = sender === "server";
  }

  push(chunk: Buffer): Message[] {
    this.#rest = Buffer.concat([this.#rest, chunk]);
    const messages: Message[] = [];
    for (;;) {
      const before = this.#hasType ? 1 : 0;
      if (this.#rest.length < before + 4) return messages;
      const length = before + this.#rest.readInt32BE(before);
      if (this.#rest.length < length) return messages;
      const type = this.#hasType ? String.fromCharCode(this.#rest[0] as number) : "";
      messages.push({ type, bytes: this.#rest.subarray(0, length) });
      this.#rest = this.#rest.subarray(length);
      this.#hasType = true;
    }
  }
}

/** Of a message that prepares a statement, or binds one to a portal: its name. */
export function statementOf({ type, bytes }: Message): string | undefined {
  return bytes.toString("latin1", 5).split("\0")[type === "B" ? 1 : 0];
}
