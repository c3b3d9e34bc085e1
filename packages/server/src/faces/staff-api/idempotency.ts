import { createHash } from "node:crypto";
import { Refused } from "../../domain/refused.ts";
import { DAY_MS, type Instant } from "../../domain/wall-time.ts";
import { beginAnswer, keepAnswer, pruneAnswers } from "../../office/session/sql.ts";
import type { AdminPorts, Identity } from "./ports.ts";
import { Problem } from "./problems.ts";

/** Minimum time that an answer is kept. */
const KEPT_MS = DAY_MS;
/** How often old answers are deleted. */
const PRUNING_EVERY_MS = 3_600_000;
/** Limit of kept answers of a person. An API key has none, since billing may use one for each of a day's sales. */
const MOST_OF_PERSON = 1_000;

/** Longer answers are not kept, so that they do not fill the disk. */
const MOST_KEPT_BYTES = 64 * 1024;

const KEY = /^[\x20-\x7e]{1,200}$/;

/** A previous answer. */
export interface KeptAnswer {
  readonly status: number;
  readonly body: string;
}

/** Replays the stored answer when a change is repeated with its Idempotency-Key. */
export class Answers {
  readonly #ports: AdminPorts;
  #prunedAt: Instant | undefined;

  constructor(ports: AdminPorts) {
    this.#ports = ports;
  }

  /**
   * @param request the parts that make two requests the same.
   * @returns the previous answer, otherwise the hash under which to keep the new one.
   * @throws Problem if the key was used for another request, or if its answer is missing or secret.
   */
  async begin(key: string, identity: Identity, request: readonly unknown[]): Promise<KeptAnswer | Uint8Array> {
    if (!KEY.test(key)) throw Refused.field("Idempotency-Key", "must have 1 to 200 printable characters of ASCII");
    const { store, clock } = this.#ports;
    const now = clock();
    await this.#prune(now);
    const { authority } = identity;
    const isKey = "keyHash" in authority;
    const owner = isKey ? `key ${Buffer.from(authority.keyHash).toString("hex")}` : `person ${authority.staffId}`;
    const hash = hashOf([owner, key]);
    // The hash includes the key, which is not stored: from a hash of the request alone, a password could be guessed.
    const asked = hashOf([key, ...request]);
    const most = isKey ? undefined : MOST_OF_PERSON;
    const known = await beginAnswer(store.engine, { hash, owner, request: asked, at: now }, most);
    if (known === undefined) return hash;
    if (known === "too_many") throw new Problem("too_many_keys");
    if (!asked.equals(known.request)) throw new Problem("key_reused");
    if (known.status === undefined) throw new Problem("answer_unknown");
    if (known.body === undefined) throw new Problem("already_answered");
    return { status: known.status, body: known.body };
  }

  /** Keeps an answer, or only its status if it is too long. The answer is sent even if it cannot be kept. @param body undefined if it is secret. */
  async keep(hash: Uint8Array, status: number, body: string | undefined): Promise<void> {
    try {
      const isShort = Buffer.byteLength(body ?? "") <= MOST_KEPT_BYTES;
      await keepAnswer(this.#ports.store.engine, hash, status, isShort ? body : undefined);
    } catch (error) {
      this.#ports.log("warn", { err: error }, "an answer could not be kept for its Idempotency-Key");
    }
  }

  async #prune(now: Instant): Promise<void> {
    if (this.#prunedAt !== undefined && now - this.#prunedAt < PRUNING_EVERY_MS) return;
    this.#prunedAt = now;
    await pruneAnswers(this.#ports.store.engine, now - KEPT_MS);
  }
}

/** The hash of the JSON text, which differs for different parts. */
function hashOf(parts: readonly unknown[]): Buffer {
  return createHash("sha256").update(JSON.stringify(parts)).digest();
}
