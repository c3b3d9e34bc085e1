import { describe, expect, test } from "vitest";
import type { Customer } from "../../src/domain/customer.ts";
import {
  type ConnectionLedger,
  type CustomerChange,
  changeCustomer,
  changesAnything,
  type StoredCustomer,
} from "../../src/domain/customer-import.ts";
import type { StatedConnection, StatedCustomer } from "../../src/domain/customer-row.ts";
import { headOf } from "../../src/domain/ledger.ts";
import type { StatedSubscription } from "../../src/domain/subscription.ts";
import {
  at,
  connectionWith,
  type Deed,
  goodwill,
  imported,
  labelOf,
  ledgerOf,
  MONTHLY,
  stated,
  topUp,
} from "./builders.ts";

const NOW = at("2027-01-20");
const AS_OF = at("2027-01-19");
const RUNNING = stated("2027-01-01", "2027-02-01");
const FIRST = imported("2027-01-02", RUNNING);
const PROFILE = { cuid: "7001", firstName: "Asha", lastName: "Rai", mobile: "9800000001", status: "active" } as const;
const FIBER = { service: "internet", reqId: "fiber1" } as const;
const NEW: StoredCustomer = { customer: undefined, mobileForm: undefined, asOf: undefined, ledgers: [] };

function fiber(subscriptions: readonly StatedSubscription[] | undefined, changes: Partial<StatedConnection> = {}) {
  return { ...FIBER, status: "active", segment: undefined, subscriptions, ...changes } as const;
}

function row(connections: readonly StatedConnection[], changes: Partial<StatedCustomer> = {}): StatedCustomer {
  return { ...PROFILE, asOf: undefined, goodwill: undefined, connections, ...changes };
}

/** A stored customer with one internet connection and these events. */
function having(deeds: readonly Deed[], customer: Partial<Customer> = {}): StoredCustomer {
  const ledger: ConnectionLedger = { ...FIBER, ...ledgerOf(...deeds) };
  const connections = [connectionWith({ ledgers: [headOf(ledger)] })];
  const asOf = at("2027-01-02").instant;
  const ledgers = deeds.length === 0 ? [] : [ledger];
  return { customer: { ...PROFILE, connections, ...customer }, mobileForm: "+9779800000001", asOf, ledgers };
}

function change(
  stored: StoredCustomer,
  customer: StatedCustomer,
  { mode = "import", allow = "", asOf = AS_OF } = {},
): CustomerChange {
  const rules = { asOf, now: NOW, toleranceDays: 1, mode: mode as "import" | "reset", allowShorter: new Set([allow]) };
  return changeCustomer(stored, customer, rules, (text) => (text.startsWith("98") ? `+977${text}` : undefined));
}

describe("a customer's row", () => {
  test("of a new customer writes it all, with the texts by which it is found", () => {
    const tv = { service: "tv", reqId: "0001", status: "blocked", segment: "gold", subscriptions: undefined } as const;
    const made = change(NEW, row([tv, fiber([RUNNING])]));
    expect(made).toMatchObject({ isStale: false, profile: PROFILE, changesProfile: true, changesConnections: true });
    expect(made.connections).toEqual([
      { service: "tv", reqId: "0001", status: "blocked", segment: "gold", blocked: false },
      { ...FIBER, status: "active", segment: undefined, blocked: false },
    ]);
    expect(made.addedCodes).toEqual(["7001", "9800000001", "+9779800000001", "0001", "fiber1"]);
    expect(made.entries).toMatchObject([
      { ...FIBER, plan: "Fiber 100", before: undefined, entry: { seq: 1, kind: "import" } },
    ]);
    expect(made.entries[0]?.entry).toMatchObject({ at: NOW, asOf: AS_OF, after: { end: RUNNING.end } });
  });

  test("that changes nothing writes nothing", () => {
    const made = change(having([FIRST]), row([fiber([RUNNING])]));
    expect(changesAnything(made)).toBe(false);
    expect(changesAnything(change(having([FIRST, goodwill("2027-01-05", 9)]), row([fiber([RUNNING])])))).toBe(false);
  });

  test("that is older than the last one taken changes nothing, and one of the same moment is taken", () => {
    const other = row([], { firstName: "Maya", status: "inactive" });
    const stale = change(having([FIRST]), other, { asOf: at("2027-01-01 23:59:59") });
    expect(stale).toMatchObject({ isStale: true, profile: PROFILE, entries: [], deactivates: false });
    expect(changesAnything(stale)).toBe(false);
    expect(changesAnything(change(having([FIRST]), other, { asOf: at("2027-01-02") }))).toBe(true);
  });

  test.each<[Partial<StatedCustomer>, string[], string[]]>([
    [{ firstName: "Maya" }, [], []],
    [{ status: "inactive" }, [], []],
    [{ mobile: "9800000002" }, ["9800000002", "+9779800000002"], ["9800000001", "+9779800000001"]],
    [{ mobile: undefined }, [], ["9800000001", "+9779800000001"]],
  ])("with %j changes the profile, and how the customer is found", (changes, added, removed) => {
    const made = change(having([FIRST]), row([fiber([RUNNING])], changes));
    expect(made).toMatchObject({ changesProfile: true, changesConnections: false, entries: [] });
    expect([made.addedCodes, made.removedCodes, made.deactivates]).toEqual([
      added,
      removed,
      changes.status === "inactive",
    ]);
  });

  test("finds its customer by the number's form as the country has it by now", () => {
    const made = change({ ...having([FIRST]), mobileForm: undefined }, row([fiber([RUNNING])]));
    expect(made).toMatchObject({ changesProfile: true, addedCodes: ["+9779800000001"], removedCodes: [] });
  });

  test("with another order of connections, status or segment changes these, and lifts no block by staff", () => {
    const blocked = connectionWith({ blocked: true });
    const made = change(
      having([], { connections: [blocked] }),
      row([fiber(undefined, { status: "inactive", segment: "gold" })]),
    );
    expect(made).toMatchObject({ changesProfile: false, changesConnections: true, entries: [] });
    expect(made.connections).toEqual([{ ...FIBER, status: "inactive", segment: "gold", blocked: true }]);
    const two = [connectionWith(), connectionWith({ reqId: "fiber2" })];
    const turned = change(
      having([], { connections: two }),
      row([fiber(undefined, { reqId: "fiber2" }), fiber(undefined)]),
    );
    expect([turned.changesConnections, turned.removedConnections]).toEqual([true, []]);
  });
});

describe("what the row no longer has", () => {
  const paid = [FIRST, topUp("2027-01-10", MONTHLY, "TXN9")];

  test("is stated as nothing: a plan that nobody paid for here ends, and its connection goes", () => {
    const made = change(having([FIRST]), row([]));
    expect(made.entries).toMatchObject([{ before: { end: RUNNING.end }, entry: { kind: "import", after: undefined } }]);
    expect(made).toMatchObject({
      endsRunning: 1,
      removedConnections: [FIBER],
      removedCodes: ["fiber1"],
      connections: [],
    });
    expect(change(having([FIRST]), row([fiber([])]))).toMatchObject({ endsRunning: 1, removedConnections: [] });
  });

  test("is held back where it was paid for, and its connection stays", () => {
    const heldBack = [
      { ...FIBER, plan: "Fiber 100", statedEnd: undefined, txnId: "TXN9", keptEnd: "2027-03-01 00:00:00" },
    ];
    const made = change(having(paid), row([]));
    expect(made).toMatchObject({ heldBack, entries: [], endsRunning: 0, removedConnections: [], removedCodes: [] });
    expect(made.connections).toEqual([{ ...FIBER, status: "active", segment: undefined, blocked: false }]);
    expect(changesAnything(made)).toBe(false);
  });

  test("goes where that is allowed for this customer, and for no other", () => {
    expect(change(having(paid), row([]), { allow: "7001" })).toMatchObject({
      heldBack: [],
      endsRunning: 1,
      connections: [],
    });
    expect(change(having(paid), row([]), { allow: "7002" }).heldBack).toHaveLength(1);
  });

  test("stays as it is on a connection whose subscriptions the row says nothing of", () => {
    expect(changesAnything(change(having(paid), row([fiber(undefined)])))).toBe(false);
  });

  test("and what staff have blocked outlasts the file", () => {
    const stored = having([], {
      connections: [connectionWith({ blocked: true }), connectionWith({ reqId: "fiber2" })],
    });
    expect(change(stored, row([])).connections).toMatchObject([{ reqId: "fiber1", blocked: true }]);
  });

  test("goes on with its own ledger when it comes back", () => {
    const gone = having([FIRST, imported("2027-01-05", undefined)], { connections: [] });
    const made = change(gone, row([fiber([RUNNING])]));
    expect(made.entries).toMatchObject([{ before: undefined, entry: { seq: 3, after: { end: RUNNING.end } } }]);
    expect(made.addedCodes).toEqual(["fiber1"]);
  });
});

describe("each plan of a row meets its own ledger", () => {
  test("of a row with two plans on a connection, and one on another", () => {
    const tv = { ...stated("2027-01-05", "2027-02-05"), plan: "Family" };
    const other = { ...RUNNING, plan: "Static IP", bouquet: { ...labelOf(MONTHLY), addOn: true } };
    const box = { service: "tv", reqId: "fiber1", status: "active", segment: undefined, subscriptions: [tv] } as const;
    const made = change(
      having([FIRST, topUp("2027-01-10")]),
      row([fiber([stated("2027-01-01", "2027-04-01"), other]), box]),
    );
    expect(made.entries.map(({ service, plan, entry }) => [service, plan, entry.seq, entry.after?.end])).toEqual([
      ["internet", "Fiber 100", 3, "2027-04-01 00:00:00"],
      ["internet", "Static IP", 1, RUNNING.end],
      ["tv", "Family", 1, tv.end],
    ]);
    expect(made.addedCodes).toEqual([]);
  });

  test("and a connection is told of that is stated inactive while a base subscription of it runs", () => {
    const inactive = row([fiber([RUNNING], { status: "inactive" })]);
    expect(change(NEW, inactive).runningThoughInactive).toMatchObject([FIBER]);
    expect(change(having([FIRST]), row([fiber(undefined, { status: "inactive" })])).runningThoughInactive).toHaveLength(
      1,
    );
    const known = having([FIRST], { connections: [connectionWith({ status: "inactive" })] });
    expect(change(known, inactive).runningThoughInactive).toEqual([]);
    for (const quiet of [row([fiber([RUNNING], { status: "blocked" })]), row([fiber([], { status: "inactive" })])])
      expect(change(NEW, quiet).runningThoughInactive).toEqual([]);
  });
});

describe("a reset", () => {
  const grown = having([FIRST, topUp("2027-01-10"), goodwill("2027-01-11", 9)], {
    connections: [connectionWith({ blocked: true }), connectionWith({ reqId: "fiber2" })],
  });

  test("makes a customer as stated: nothing is held back, blocked, stale or left of it", () => {
    const made = change(grown, row([fiber([RUNNING])]), { mode: "reset", asOf: at("2026-01-01") });
    expect(made).toMatchObject({ isStale: false, heldBack: [], removedConnections: [{ reqId: "fiber2" }] });
    expect(made.connections).toMatchObject([{ reqId: "fiber1", blocked: false }]);
    expect(made.entries).toMatchObject([{ entry: { seq: 4, after: { end: RUNNING.end, since: 4 } } }]);
  });

  test("takes away what the row says nothing of", () => {
    const made = change(grown, row([fiber(undefined)]), { mode: "reset" });
    expect(made.entries).toMatchObject([{ entry: { after: undefined } }]);
  });
});
