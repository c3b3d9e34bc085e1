import { describe, expect, test } from "vitest";
import { lookUpCustomer } from "../../src/partner/customers.ts";
import { customer, openWorld, type World } from "../support/world.ts";

const HEADER = "cuid,first_name,last_name,mobile,status,service,connection,connection_status";

function importCsv(world: World, ...lines: readonly string[]) {
  async function* open() {
    yield Buffer.from([HEADER, ...lines].join("\n"));
  }
  return world.importCustomers([], { isCsv: true, open, skipInvalid: true });
}

/** Id of the customer that a code finds, or the refusal. */
async function find({ ports, caller }: World, code: string) {
  const answer = await lookUpCustomer(ports, caller, { code });
  return answer.ok ? answer.value.customer.cuid : answer.refusal;
}

const CHANGED = "a number that a spreadsheet or another program has changed: make the column text there";
const NONE = "which programs write for no value";
const nepal = () => openWorld({ defaultCountry: "NP" });

describe("a file with placeholders", () => {
  test("brings no strangers together: ids are refused, mobile numbers are none, names stay", async () => {
    const world = await nepal();
    const { result, rejected, warnings } = await importCsv(
      world,
      "400009,NULL,NULL,NULL,active,tv,NULL,active",
      "400021,A,T,\\N,active,tv,00021,active",
      "400022,null,#N/A,n/a,active,tv,00022,active",
    );
    expect(result).toMatchObject({ report: { accepted: 2, rejected: 1, mobilePlaceholders: 2 } });
    const problem = `is "NULL", ${NONE}`;
    expect(rejected).toEqual([{ line: 2, problems: [{ field: "connections.tv[0].stb", problem }] }]);
    expect(warnings.map(({ line, problem: said }) => `${line} ${said}`)).toEqual([
      `3 mobile "\\N", ${NONE}, is taken as none`,
      `4 mobile "n/a", ${NONE}, is taken as none`,
      `4 first_name "null", ${NONE}, is kept as a name`,
      `4 last_name "#N/A", ${NONE}, is kept as a name`,
    ]);
    for (const code of ["NULL", "\\N", "n/a"]) expect(await find(world, code)).toBe("customer_not_found");
    expect(await find(world, "00021")).toBe("400021");
  });

  test("changes no look-up, whatever is stored", async () => {
    const world = await openWorld({
      wrap: (store) => ({ ...store, lookUpCustomers: () => Promise.reject(new Error("the store was asked")) }),
    });
    for (const code of ["NULL", " null ", "#VALUE!", "-"]) expect(await find(world, code)).toBe("customer_not_found");
  });

  test("has its mobile numbers that are no numbers counted in a preview", async () => {
    const world = await nepal();
    const mobiles = ["9841000001", "014412345", "984100", "see notes", "NULL"];
    const rows = mobiles.map((mobile, index) => customer(String(index), { mobile }));
    const { result } = await world.importCustomers(rows, { preview: true });
    expect(result).toMatchObject({ report: { accepted: 5, mobilePlaceholders: 1, mobilesUnreadable: 2 } });
  });
});

describe("a file with numbers that a program wrote", () => {
  test("has them named, and other rows are taken", async () => {
    const { result, rejected } = await importCsv(
      await nepal(),
      "1e+05,Asha,Test,9841000001,active,internet,asha1,active",
      "100001,Bina,Test,9841000002,active,internet,bina1,active",
      "2e5,Chet,Test,9841000003,active,tv,60150001022e3,active",
      "400006,Asha,Test,9841000106,active,tv,12403.0,active",
    );
    expect(result).toMatchObject({ report: { accepted: 1, rejected: 3 } });
    expect(rejected).toEqual([
      { line: 2, problems: [{ field: "cuid", problem: `is "1e+05", ${CHANGED}` }] },
      { line: 4, problems: [{ field: "cuid", problem: `is "2e5", ${CHANGED}` }] },
      { line: 5, problems: [{ field: "connections.tv[0].stb", problem: `is "12403.0", ${CHANGED}` }] },
    ]);
  });

  test.each([
    [["00012400", "60150001022e3"], ["60150001022e3"]],
    [
      ["60150001022e3", "00012400", "12e4"],
      ["60150001022e3", "12e4"],
    ],
    [["60150001022e3", "6015000a"], []],
    [["60150001022e3", "00012400", "6015000a"], []],
    [["60150001022e3"], []],
  ])("of the set-top boxes %j warns of %j: other ids of the column are digits alone", async (ids, unclear) => {
    const lines = ids.map((id, index) => `c${index},A,T,,active,tv,${id},active`);
    const { result, warnings } = await importCsv(await nepal(), ...lines);
    expect(result).toMatchObject({ report: { rejected: 0 } });
    const words = "may be a number that a program has changed: the other ids of this column are digits";
    expect(warnings.map(({ problem }) => problem)).toEqual(unclear.map((id) => `tv ${id} ${words}`));
  });
});

test("a text marker of a spreadsheet is no part of an id or a mobile number", async () => {
  const world = await nepal();
  await importCsv(
    world,
    "400002,Asha,Test,'9841000102,active,tv,'00012400,active",
    '400004,Asha,Test,9841000104,active,tv,="00012402",active',
    "400005,'Asha,Test,'+9779841000105,active,tv,7,active",
  );
  const codes = ["9841000102", "00012400", "00012402", "+9779841000105"];
  expect(await Promise.all(codes.map((code) => find(world, code)))).toEqual(["400002", "400002", "400004", "400005"]);
});

test.each([
  ["+977-973-1000501", "9731000501"],
  ["01-4412345", "14412345"],
])("a customer with the number %s is found in every spelling", async (mobile, digits) => {
  const world = await nepal();
  await world.importCustomers([customer("P1", { mobile })]);
  const spellings = [digits, `0${digits}`, `977${digits}`, `+977${digits}`, `00977${digits}`, `+977-${digits}`, mobile];
  for (const code of spellings) expect(await find(world, code), code).toBe("P1");
});
