import { type Static, Type } from "typebox";
import type { Environment } from "../../domain/customer.ts";
import { sumShift } from "../../store/shifts.ts";
import type { ShiftRow } from "../../store/tables.ts";
import {
  DAYS,
  daysOf,
  ENVIRONMENT,
  environmentOf,
  numberCursor,
  PAGE,
  type PageInput,
  pageOf,
  readPage,
} from "../common.ts";
import { type Rows, rowsOf } from "../fields.ts";
import type { Office } from "../office.ts";
import { type Operation, operation } from "../operation.ts";
import { PARTNER, partnerIdOf } from "../partners/meant.ts";
import { presenterOf } from "../transactions/presenter.ts";
import { ShiftSchema, shiftData } from "./schemas.ts";
import { readShifts, type ShiftFilter } from "./sql.ts";

const AS = { tag: "Shifts", permission: "settle", isReport: true } as const;
const SHIFTS = {
  ...ENVIRONMENT,
  ...DAYS,
  ...PARTNER,
  seller: Type.Optional(Type.String({ maxLength: 64, description: "Of this seller." })),
};
const COLUMNS = ["id", "partner", "seller", "openedAt", "closedAt", "opening", "expected", "counted", "difference"];
const AT_ONCE = 500;

async function filterOf(office: Office, input: Static<typeof FilterSchema>): Promise<ShiftFilter> {
  const [environment, partnerId] = [await environmentOf(office, input), await partnerIdOf(office, input)];
  return { environment, partnerId, seller: input.seller, ...daysOf(office, input) };
}

const FilterSchema = Type.Object(SHIFTS);

export const listShifts = operation({
  ...AS,
  http: "GET /shifts",
  summary: "List the shifts of sellers that were opened on some days, newest first",
  input: Type.Object({ ...SHIFTS, ...PAGE }),
  answer: pageOf(ShiftSchema),
  cli: [
    {
      words: "shift list",
      show: COLUMNS,
      examples: ["topupd shift list --from 2026-11-20 --to 2026-11-20", 'topupd shift list --partner "Blue Wallet"'],
    },
  ],
  run: async (office, input) => listShiftsOf(office, await filterOf(office, input), input),
});

export const exportShifts = operation({
  ...AS,
  http: "GET /shifts.csv",
  summary: "Export the shifts of sellers, newest first",
  input: FilterSchema,
  answer: rowsOf(ShiftSchema),
  cli: [{ words: "export shifts", examples: ["topupd export shifts --output shifts.csv"] }],
  run: async (office, input) => exported(office, await filterOf(office, input)),
});

async function* exported(office: Office, filter: ShiftFilter): Rows<Static<typeof ShiftSchema>> {
  for (let before: number | undefined; ; ) {
    const shifts = await readShifts(office.store.engine.db, filter, before, AT_ONCE);
    yield await shiftsData(office, filter.environment, shifts);
    before = shifts.at(-1)?.id;
    if (shifts.length < AT_ONCE) return undefined;
  }
}

/** A page of shifts. */
export async function listShiftsOf(office: Office, filter: ShiftFilter, input: PageInput) {
  const { db } = office.store.engine;
  const read = (limit: number) => readShifts(db, filter, numberCursor(input), limit);
  const { items, cursor } = await readPage(input, read, ({ id }) => id);
  return { items: await shiftsData(office, filter.environment, items), cursor };
}

async function shiftsData(office: Office, environment: Environment, shifts: readonly ShiftRow[]) {
  const presenter = await presenterOf(office, environment);
  const shown: Static<typeof ShiftSchema>[] = [];
  for (const shift of shifts) {
    const sums = shift.closedAt === null ? await sumShift(office.store.engine.db, shift) : undefined;
    shown.push(shiftData(shift, presenter, sums));
  }
  return shown;
}

export const operations: readonly Operation[] = [listShifts, exportShifts];
