import { setTimeout as sleep } from "node:timers/promises";
import { changeAccount, enterIntoAccount } from "../src/office/accounts/operations.ts";
import { reverseTransaction } from "../src/office/corrections/reversal.ts";
import { resendToTarget } from "../src/office/targets/operations.ts";
import { setWebhook } from "../src/office/targets/webhook.ts";
import { run } from "../test/support/desk.ts";
import { type ArrivedFact, brokenPromises } from "../test/support/facts.ts";
import { expectBook } from "./book.ts";
import { Fleet, killAtTimes } from "./fleet.ts";
import { addOpenPartner, BOUQUETS, insist, makeProvider, openDesk, topUpSurely } from "./partner.ts";
import type { Ground } from "./processes.ts";
import { Choices } from "./random.ts";
import { Receiver } from "./receiver.ts";

export interface FactsOptions extends Ground {
  readonly seed: number;
  /** Minimum number of facts. */
  readonly facts: number;
  readonly kills: number;
}

const [WORKERS, CUSTOMERS, SELLERS_EACH] = [3, 2_000, 6];
const NAMES = ["wallet", "bank", "kiosk", "agent"] as const;
const [{ code: BOUQUET }] = BOUQUETS;
const ENTRY_EVERY = 50;
/** An account is low until such a deposit, and after such a withdrawal. */
const ENTERED = "20000000";
const SAVED_WITHIN_MS = 2_000;
/** A receiver that takes everything gets something within this time. */
const GOES_ON_WITHIN_MS = 90_000;

/**
 * Partners top up, staff reverse and enter into accounts, while receivers fail at random, hang and answer late, and processes
 * are killed. Every fact must arrive, and none of another partner.
 * @throws Error that names the partner and the facts with a violation.
 */
export async function facts({ seed, facts: wanted, kills, ...ground }: FactsOptions): Promise<string> {
  const choices = new Choices(seed);
  const firstToken = await makeProvider(ground, CUSTOMERS);
  const opened = await openDesk(ground);
  const { desk, store } = opened;
  const receivers = NAMES.map(() => new FactReceiver(new Choices(choices.seed())));
  const fleet = new Fleet(ground, firstToken, WORKERS);
  try {
    const tokens: string[] = [];
    for (const [index, name] of NAMES.entries()) {
      const receiver = receivers[index] as FactReceiver;
      await receiver.open();
      tokens.push(index === 0 ? firstToken : await addOpenPartner(opened, name));
      await run(desk, changeAccount, { name, alertBelow: "1" });
      await run(desk, setWebhook, { name, url: receiver.url });
    }
    await fleet.start(0);
    let made = 0;
    const isDone = () => made >= wanted && fleet.kills.length >= kills;
    const sell = async (of: number, own: Choices) => {
      const [name = "", token = ""] = [NAMES[of], tokens[of]];
      const sold: string[] = [];
      for (; !isDone(); made += 1)
        if (own.below(ENTRY_EVERY) === 0) {
          const kind = own.of(["deposit", "withdrawal"] as const);
          const entry = { name, kind, amount: ENTERED, reference: `R${made}.${own.seed()}` };
          await insist(() => run(desk, enterIntoAccount, { ...entry, reason: "campaign" }));
        } else if (sold.length > 0 && own.below(3) === 0) {
          const [id = ""] = sold.splice(own.below(sold.length), 1);
          await insist(() => run(desk, reverseTransaction, { id, reason: "campaign" }));
        } else {
          const client = () => own.of(fleet.clients).withToken(token);
          sold.push(await topUpSurely(client, own.below(CUSTOMERS), BOUQUET));
        }
    };
    const selling = NAMES.flatMap((_, of) =>
      Array.from({ length: SELLERS_EACH }, () => sell(of, new Choices(choices.seed()))),
    );
    const killing = killAtTimes(fleet, { kills, wanted, made: () => made }, new Choices(choices.seed()));
    await Promise.all([...selling, killing]);
    await tryAllAgain();
    const all = await readFacts();
    await untilTaken(all);
    for (const [index, name] of NAMES.entries()) {
      const broken = brokenPromises(receivers[index]?.facts ?? [], all[index] ?? new Set());
      if (broken.length > 0) throw new Error(`${name}, ${broken.length} times: ${broken[0]}`);
    }
    await expectBook(ground, fleet.told);
    const [count, arrivals, failures] = [
      all.reduce((sum, { size }) => sum + size, 0),
      receivers.reduce((sum, { facts: { length } }) => sum + length, 0),
      receivers.reduce((sum, receiver) => sum + receiver.failures, 0),
    ];
    return `${count} facts, ${fleet.kills.length} kills, ${failures} mishaps: all taken, in ${arrivals} arrivals, none of another partner`;
  } finally {
    await fleet.end();
    for (const receiver of receivers) await receiver.close();
    await opened.close();
  }

  async function tryAllAgain(): Promise<void> {
    for (const receiver of receivers) {
      // Hanging requests end.
      await receiver.close();
      receiver.isWell = true;
      await receiver.open();
    }
    // Failed attempts are recorded by then.
    await sleep(SAVED_WITHIN_MS);
    for (const name of NAMES) await run(desk, resendToTarget, { name: `partner ${name} production` });
  }

  /** The ids of each partner's facts, from what the facts are about. */
  async function readFacts(): Promise<Set<string>[]> {
    const { db } = store.engine;
    const partners = await db.selectFrom("partner").select(["id", "name"]).execute();
    const topUps = await db.selectFrom("topUp").select(["txnId", "partnerId", "status"]).execute();
    const entries = await db.selectFrom("accountEntry").select(["reference", "partnerId"]).execute();
    const lows = await db.selectFrom("alert").select(["at", "subject"]).where("kind", "=", "account_low").execute();
    return NAMES.map((name) => {
      const id = partners.find((each) => each.name === name)?.id;
      const own = topUps.filter(({ partnerId }) => partnerId === id);
      return new Set([
        ...own.map(({ txnId }) => `recorded_${txnId}`),
        ...own.filter(({ status }) => status === "reversed").map(({ txnId }) => `reversed_${txnId}`),
        ...entries
          .filter(({ partnerId }) => partnerId === id)
          .map(({ reference }) => `entry_${reference.replace(".", "%2E")}`),
        ...lows.filter(({ subject }) => subject === name).map(({ at }) => `low_${at}`),
      ]);
    });
  }

  async function untilTaken(all: readonly ReadonlySet<string>[]): Promise<void> {
    const left = () => all.some((its, index) => [...its].some((id) => receivers[index]?.taken.has(id) !== true));
    for (let [before, at] = [0, Date.now()]; left() && Date.now() - at < GOES_ON_WITHIN_MS; await sleep(250)) {
      const now = receivers.reduce((sum, { taken }) => sum + taken.size, 0);
      if (now > before) [before, at] = [now, Date.now()];
    }
  }
}

class FactReceiver extends Receiver<{ readonly id: string }> {
  readonly facts: ArrivedFact[] = [];
  readonly taken = new Set<string>();

  protected arrived({ id }: { readonly id: string }): () => void {
    const fact = { id, isTaken: false };
    this.facts.push(fact);
    return () => {
      fact.isTaken = true;
      this.taken.add(id);
    };
  }
}
