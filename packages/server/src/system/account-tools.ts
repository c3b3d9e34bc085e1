import { scrypt, timingSafeEqual } from "node:crypto";
import { type AccountTools, PasswordsBusy } from "../office/staff/passwords.ts";
import type { Ports } from "../store/ports.ts";

export interface ScryptCost {
  /** Of two: how many blocks are filled. */
  readonly exponent: number;
  readonly blockSize: number;
  readonly parallel: number;
}

/** 32 MiB, and a quarter of a second: of those that OWASP holds for equal, one that leaves memory to the service beside it. */
const USUAL_COST: ScryptCost = { exponent: 15, blockSize: 8, parallel: 3 };

/** Of the four threads that Node has for hashes and files. */
const MOST_AT_ONCE = 2;
/** The last one waits for some three seconds. */
const MOST_WAITING = 20;

/** Does few hashes at a time and refuses what would wait for long, so that a flood of log-ins stops nobody else's. */
export class HashQueue {
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  /** @throws PasswordsBusy */
  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#waiting.length >= MOST_WAITING) throw new PasswordsBusy();
    if (this.#running < MOST_AT_ONCE) this.#running += 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }
}

const SALT_BYTES = 16;
const HASH_BYTES = 32;

/** @returns the hash, with its salt and what it cost, in the form `$scrypt$ln=15,r=8,p=3$SALT$HASH`. */
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

/** @param hashed undefined where there is none: then it takes as long at this cost, and is false. */
async function checkPassword(password: string, hashed: string | undefined, cost: ScryptCost): Promise<boolean> {
  const [, exponent, blockSize, parallel, salt, hash] = SHAPE.exec(hashed ?? "") ?? [];
  if (salt === undefined || hash === undefined) {
    await derive(password, new Uint8Array(SALT_BYTES), cost);
    return false;
  }
  const given = { exponent: Number(exponent), blockSize: Number(blockSize), parallel: Number(parallel) };
  return timingSafeEqual(await derive(password, Buffer.from(salt, "base64"), given), Buffer.from(hash, "base64"));
}

/** The same letters may be sent in several ways, by the keyboard and the system. */
function derive(password: string, salt: Uint8Array, { exponent, blockSize, parallel }: ScryptCost): Promise<Buffer> {
  const cost = 2 ** exponent;
  // Node refuses what takes more than 32 MiB unless it is told; the arrays beside the blocks are few.
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

/** @param cost less than usual in tests alone. */
export function accountTools(
  { clock, random }: Pick<Ports, "clock" | "random">,
  cost: ScryptCost = USUAL_COST,
): AccountTools {
  // What one-time codes need is loaded where they are first asked for: few commands need it.
  const totp = () => import("./totp.ts");
  const queue = new HashQueue();
  return {
    hashPassword: (password) => queue.run(() => hashPassword(password, random, cost)),
    checkPassword: (password, hashed) => queue.run(() => checkPassword(password, hashed, cost)),
    offerTotp: async (name) => (await totp()).offerTotp(name, random),
    checkTotp: async (secret, code, after) => (await totp()).checkTotp(secret, code, clock(), after),
  };
}
