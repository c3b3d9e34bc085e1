import { Type } from "typebox";
import { Refused } from "../../domain/refused.ts";
import { cashExpected, cashRows, shiftClosed, shiftOpened } from "../../domain/sale.ts";
import { sumShift, takeSales } from "../../store/shifts.ts";
import type { ShiftRow } from "../../store/tables.ts";
import { amountInput, orNull, PAGE, pageOf, readAmount } from "../common.ts";
import { decide } from "../decide.ts";
import type { Office } from "../office.ts";
import { type Operation, operation } from "../operation.ts";
import { presenterOf } from "../transactions/presenter.ts";
import { listShiftsOf } from "./operations.ts";
import { noShift, sellerKey } from "./own.ts";
import { listSales, requestReversal, returnCash } from "./sales.ts";
import { ShiftSchema, ShiftSumsSchema, shiftSumsData } from "./schemas.ts";
import { findOpenShift, lockOpenShift, nextShiftId } from "./sql.ts";

/* What sellers do with their own shifts, at the counter. */

const AS = { tag: "Shifts", permission: "sell" } as const;

async function ownPresenter(office: Office) {
  return presenterOf(office, (await sellerKey(office)).environment);
}

export const openShift = operation({
  ...AS,
  http: "POST /shift",
  status: 201,
  refuses: ["conflict"],
  summary: "Open a shift. It gets the sales since the last one",
  input: Type.Object({ opening: Type.Optional(amountInput("Cash at the beginning (default: 0).")) }),
  answer: ShiftSumsSchema,
  async run(office, { opening: text = "0" }) {
    const opening = readAmount(office, "opening", text);
    const presenter = await ownPresenter(office);
    return decide(office, "reference", async (tx) => {
      const key = await sellerKey(office, tx);
      const { zone } = office.store.provider;
      const open = await findOpenShift(tx, key);
      if (open !== undefined)
        throw new Refused("conflict", `your shift is open since ${zone.wallTime(open.openedAt)}: close it first`);
      const closed = { closedAt: null, counted: null, expected: null, cashRows: null, note: null };
      const opened = { openedAt: office.by.at, opening: Number(opening) };
      const shift: ShiftRow = { id: await nextShiftId(tx), ...key, ...opened, ...closed };
      const answer = shiftSumsData(shift, presenter, await sumShift(tx, shift));
      const write = () => tx.insertInto("shift").values(shift).execute();
      return { answer, change: { write, audit: [shiftOpened(answer.partner, answer.opening)] } };
    });
  },
});

export const showShift = operation({
  ...AS,
  http: "GET /shift",
  summary: "Show the own open shift",
  input: Type.Object({}),
  answer: Type.Object({ shift: orNull(ShiftSumsSchema) }),
  async run(office) {
    const { db } = office.store.engine;
    const shift = await findOpenShift(db, await sellerKey(office));
    if (shift === undefined) return { shift: null };
    return { shift: shiftSumsData(shift, await ownPresenter(office), await sumShift(db, shift)) };
  },
});

export const closeShift = operation({
  ...AS,
  http: "POST /shift/close",
  refuses: ["conflict"],
  summary: "Close the own shift, with the cash that was counted: it never changes again",
  input: Type.Object({
    counted: amountInput("Cash that you counted, such as 5230.00."),
    note: Type.Optional(Type.String({ pattern: "^\\P{Cc}{1,200}$", description: "A note for the provider." })),
  }),
  answer: ShiftSumsSchema,
  async run(office, { counted: text, note }) {
    const counted = readAmount(office, "counted", text);
    const presenter = await ownPresenter(office);
    return decide(office, [], async (tx) => {
      const open = (await lockOpenShift(tx, await sellerKey(office, tx))) ?? noShift();
      // A sale that is recorded from here on belongs to the next shift.
      await takeSales(tx, open);
      const sums = await sumShift(tx, open, true);
      const closed = {
        ...{ closedAt: office.by.at, counted: Number(counted), note: note ?? null },
        ...{ expected: Number(cashExpected(BigInt(open.opening), sums)), cashRows: cashRows(sums) },
      };
      const answer = shiftSumsData({ ...open, ...closed }, presenter, sums);
      const write = () => tx.updateTable("shift").set(closed).where("id", "=", open.id).execute();
      const said = { expected: answer.expected, counted: answer.counted ?? "", note };
      return { answer, change: { write, audit: [shiftClosed(answer.partner, said)] } };
    });
  },
});

export const listOwnShifts = operation({
  ...AS,
  http: "GET /shifts",
  summary: "List the own shifts, newest first",
  input: Type.Object(PAGE),
  answer: pageOf(ShiftSchema),
  run: async (office, input) => listShiftsOf(office, await sellerKey(office), input),
});

/** All operations of sellers. The counter serves them, and no other face. */
export const sellerOperations: readonly Operation[] = [
  openShift,
  showShift,
  closeShift,
  listOwnShifts,
  listSales,
  requestReversal,
  returnCash,
];
