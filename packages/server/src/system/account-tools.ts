import { scrypt, timingSafeEqual } from "node:crypto";
import { type AccountTools, PasswordsBusy } from "../domain/passwords.ts";
import type { Ports } from "../store/ports.ts";

export interface ScryptCost {
  /** Power of two: number of blocks. */
  readonly exponent: number;
  readonly blockSize: number;
  readonly parallel: number;
}

/** A cost of 32 MiB and a quarter of a second. OWASP lists it as equal to others that need more memory. */
const USUAL_COST: ScryptCost = { exponent: 15, blockSize: 8, parallel: 3 };

/** Hashes at once. Node has four threads for hashes and files. */
const MOST_AT_ONCE = 2;
/** In each queue. The last one waits about three seconds. */
const MOST_WAITING = 20;

/** Runs few hashes at a time and refuses long queues. Strangers queue apart, after callers at known places. */
export class HashQueue {
  readonly #known: (() => void)[] = [];
  readonly #strangers: (() => void)[] = [];
  #running = 0;

  /** @throws PasswordsBusy */
  async run<Result>(work: () => Promise<Result>, isKnown: boolean): Promise<Result> {
    const waiting = isKnown ? this.#known : this.#strangers;
    if (waiting.length >= MOST_WAITING) throw new PasswordsBusy();
    if (this.#running < MOST_AT_ONCE) this.#running += 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.#known.shift() ?? this.#strangers.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }
}

const SALT_BYTES = 16;
const HASH_BYTES = 32;

/** @returns the hash with its salt and cost: `$scrypt$ln=15,r=8,p=3$SALT$HASH`. */
async function hashPassword(
  password: string,
  random: (bytes: number) => Uint8Array,
  cost: ScryptCost,
): Promise<string> {
  const salt = Uint8Array.from(random(SALT_BYTES));
  const hashed = await derive(password, salt, cost);
  const { exponent, blockSize, parallel } = cost;
  return `$scrypt$ln=${exponent},r=${blockSize},p=${parallel}$${base64(salt)}$${base64(hashed)}`;
}

const SHAPE = /^\$scrypt\$ln=(\d+),r=(\d+),p=(\d+)\$([\w+/]+)\$([\w+/]+)$/;

/** @param hashed undefined for an unknown account: the check takes as long, and fails. */
async function checkPassword(password: string, hashed: string | undefined, cost: ScryptCost): Promise<boolean> {
  const [, exponent, blockSize, parallel, salt, hash] = SHAPE.exec(hashed ?? "") ?? [];
  if (salt === undefined || hash === undefined) {
    await derive(password, new Uint8Array(SALT_BYTES), cost);
    return false;
  }
  const given = { exponent: Number(exponent), blockSize: Number(blockSize), parallel: Number(parallel) };
  return timingSafeEqual(await derive(password, Buffer.from(salt, "base64"), given), Buffer.from(hash, "base64"));
}

/** Unicode is normalised, because keyboards and systems encode the same letters differently. */
function derive(password: string, salt: Uint8Array, { exponent, blockSize, parallel }: ScryptCost): Promise<Buffer> {
  const cost = 2 ** exponent;
  // Node's default limit is 32 MiB. The factor 2 leaves room for scrypt's other arrays.
  const options = { cost, blockSize, parallelization: parallel, maxmem: 2 * 128 * cost * blockSize };
  return new Promise((resolve, reject) => {
    scrypt(password.normalize("NFKC"), salt, HASH_BYTES, options, (error, derived) => {
      if (error === null) resolve(derived);
      else reject(error);
    });
  });
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64").replace(/=+$/, "");
}

/** @param cost lower in tests. */
export function accountTools(
  { clock, random }: Pick<Ports, "clock" | "random">,
  cost: ScryptCost = USUAL_COST,
): AccountTools {
  // The one-time code library is loaded on first use: few commands need it.
  const totp = () => import("./totp.ts");
  const queue = new HashQueue();
  return {
    hashPassword: (password) => queue.run(() => hashPassword(password, random, cost), true),
    checkPassword: (password, hashed, isKnown) => queue.run(() => checkPassword(password, hashed, cost), isKnown),
    offerTotp: async (name) => (await totp()).offerTotp(name, random),
    checkTotp: async (secret, code, after) => (await totp()).checkTotp(secret, code, clock(), after),
  };
}
