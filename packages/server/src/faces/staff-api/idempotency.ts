import { createHash } from "node:crypto";
import { DAY_MS, type Instant } from "../../domain/wall-time.ts";
import { Refused } from "../../office/refused.ts";
import { beginAnswer, keepAnswer, pruneAnswers } from "../../office/session/answers.ts";
import type { AdminPorts, Identity } from "./ports.ts";
import { Problem } from "./problems.ts";

/** For how long an answer is kept at least. */
const KEPT_MS = DAY_MS;
/** How often old answers are deleted. */
const PRUNING_EVERY_MS = 3_600_000;
/** How many a person may have on record. An API key has no limit: a billing system may send each of a day's sales with one. */
const MOST_OF_PERSON = 1_000;

/** Longer answers are not kept: keys are many, and their answers must not fill the disk. */
const MOST_KEPT_BYTES = 64 * 1024;

const KEY = /^[\x20-\x7e]{1,200}$/;

/** An answer that was given before. */
export interface KeptAnswer {
  readonly status: number;
  readonly body: string;
}

/** Has a changing request that is sent again with its Idempotency-Key answered again, and not done again. */
export class Answers {
  readonly #ports: AdminPorts;
  #prunedAt: Instant | undefined;

  constructor(ports: AdminPorts) {
    this.#ports = ports;
  }

  /**
   * @param request all of it that counts.
   * @returns the answer that it had; otherwise the hash by which to keep the one that it gets.
   * @throws Problem where it was another request, or is not answered yet, or with what is shown once.
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
    // With the key, which is stored nowhere: a hash of a password alone could be guessed.
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

  /** Keeps an answer, or its status alone if it is too long. What was done is done: where its answer cannot be kept, it is given all the same. @param body undefined where it is shown once. */
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

/** Of a JSON text, so no two requests have the same one. */
function hashOf(parts: readonly unknown[]): Buffer {
  return createHash("sha256").update(JSON.stringify(parts)).digest();
}
