import { setTimeout as sleep } from "node:timers/promises";
import { addOpenPartner, BOUQUETS, makeProvider, openDesk, PartnerClient, type Purchase } from "../partner.ts";
import { expectTopupd, type Ground, startServing } from "../processes.ts";
import { Choices } from "../random.ts";

export interface LoadOptions {
  readonly seed: number;
  readonly topUps: number;
  /** Commands by staff meanwhile: reversals and deposits in turn. */
  readonly commands: number;
  /** The length of the trace. */
  readonly place: () => number;
  /** Called when nobody asks any more, before the service ends. */
  readonly quiet: () => Promise<void>;
}

/** An answer of topupd, given when the trace was not longer than `place`. */
export interface Said {
  readonly place: number;
  /** An answer to a partner. */
  readonly answer?: { readonly checkoutId: string; readonly text: string };
  /** The txnId of a top-up that was reversed; the reference of a deposit. */
  readonly reversed?: string;
  readonly deposited?: string;
}

/** Callers of each partner at the same time, so that batches hold several top-ups. */
const CALLERS = 8;
const PRICE = BOUQUETS[0].price;

/** Makes partners without an account, with one that covers everything, and with one that covers little. @returns tokens. */
export async function makePartners(ground: Ground): Promise<string[]> {
  const tokens = [await makeProvider(ground)];
  const opened = await openDesk(ground);
  for (const name of ["bank", "kiosk"]) tokens.push(await addOpenPartner(opened, name));
  await opened.close();
  await expectTopupd(["target", "add", "billing", "--kind", "feed"], ground);
  await expectTopupd(["partner", "account", "bank", "--credit-limit", "100000000"], ground);
  await expectTopupd(["partner", "account", "kiosk", "--credit-limit", String(PRICE * 10)], ground);
  return tokens;
}

/** Partners top up, ask and repeat, while staff reverse and deposit. */
export async function load(ground: Ground, tokens: readonly string[], options: LoadOptions): Promise<Said[]> {
  const { seed, topUps, commands, place, quiet } = options;
  const choices = new Choices(seed);
  const said: Said[] = [];
  const reversible = new Set<string>();
  let [left, isCommanding] = [topUps, true];
  const command = async () => {
    for (let count = 0; count < commands; count += 1) {
      while (reversible.size === 0) await sleep(5);
      const reversed = choices.of([...reversible]);
      const deposited = `deposit ${count}`;
      if (count % 2 === 0) {
        reversible.delete(reversed);
        await expectTopupd(["transaction", "reverse", reversed, "--reason", "paid twice"], ground);
        said.push({ place: place(), reversed });
      } else {
        await expectTopupd(["partner", "deposit", "kiosk", "5000.00", "--reference", deposited], ground);
        said.push({ place: place(), deposited });
      }
    }
    isCommanding = false;
  };
  const call = async (client: PartnerClient, own: Choices) => {
    const sent: Purchase[] = [];
    const ask = async (operation: "topUp" | "query", purchase: Purchase) => {
      const { checkoutId } = purchase;
      const { status, text } = await (operation === "topUp" ? client.topUp(purchase) : client.query(checkoutId));
      if (status >= 500) throw new Error(`a partner was answered ${text}`);
      said.push({ place: place(), answer: { checkoutId, text } });
      const [txnId] = txnIdsIn(text);
      if (txnId !== undefined && !sent.includes(purchase)) reversible.add(txnId);
    };
    while (left > 0 || isCommanding) {
      left -= 1;
      const kind = sent.length === 0 ? 9 : own.below(10);
      if (kind === 0) await ask("topUp", own.of(sent));
      else if (kind === 1) await ask("query", own.of(sent));
      else {
        const purchase = await client.prepare(own);
        await ask("topUp", purchase);
        sent.push(purchase);
      }
      // Only the commands are awaited then.
      if (left <= 0) await sleep(500);
    }
  };
  const served = await startServing(ground, 2);
  try {
    const callers = tokens.flatMap((token) =>
      Array.from({ length: CALLERS }, () => new PartnerClient(served.url, token)),
    );
    await Promise.all([command(), ...callers.map((client) => call(client, new Choices(choices.seed())))]);
    await quiet();
  } finally {
    await served.end("SIGTERM");
  }
  return said;
}

export function txnIdsIn(text: string): string[] {
  return [...text.matchAll(/"txnId":"([0-9A-Z]+)"/g)].map(([, txnId]) => txnId as string);
}
