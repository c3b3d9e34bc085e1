import { type Static, Type } from "typebox";
import type { Environment } from "../../domain/customer.ts";
import { Refused } from "../../domain/refused.ts";
import { findCustomer } from "../../store/customers.ts";
import type { Db } from "../../store/engine.ts";
import { ENVIRONMENT, environmentOf } from "../common.ts";
import { correctingBy, decide } from "../decide.ts";
import { operation } from "../operation.ts";
import { printable } from "../text.ts";
import { CuidSchema, NoteSchema } from "./schemas.ts";

const LONGEST = 500;
type Note = Static<typeof NoteSchema>;

export const addNote = operation({
  tag: "Customers",
  permission: "correct",
  http: "POST /customers/:cuid/notes",
  status: 201,
  summary: "Write a note about a customer",
  refuses: ["not_found"],
  input: Type.Object({
    cuid: CuidSchema,
    note: Type.String({
      maxLength: LONGEST,
      pattern: "^(?=.*\\S)\\P{Cc}*$",
      description: `The note, one line of at most ${LONGEST} characters.`,
    }),
    ...ENVIRONMENT,
  }),
  answer: NoteSchema,
  cli: [
    {
      words: "customer note",
      arguments: ["cuid", "note"],
      examples: ['topupd customer note 204117 "called about the outage"'],
      show: (note) => ({ out: `${noteLine(note)}\n` }),
    },
  ],
  async run(office, { cuid, note: given, ...asked }) {
    const environment = await environmentOf(office, asked);
    return decide(office, [{ environment, cuid }], async (tx) => {
      if ((await findCustomer(tx, environment, cuid)) === undefined)
        throw new Refused("not_found", `no ${environment} customer has the cuid ${cuid}`);
      const { author, at } = correctingBy(office);
      const [last] = await readNotes(tx, environment, cuid);
      const note = given.trim();
      const answer = { seq: (last?.seq ?? 0) + 1, wall: at.wall, author, note };
      const audited = { subject: `${environment} ${cuid}`, before: undefined, after: { note } };
      const row = { environment, cuid, ...answer, at: at.instant };
      return {
        answer,
        change: {
          write: () => tx.insertInto("customerNote").values(row).execute(),
          audit: [{ action: "customer.note", ...audited }],
        },
      };
    });
  },
});

/** The notes about a customer, newest first. */
export function readNotes(db: Db, environment: Environment, cuid: string): Promise<Note[]> {
  const query = db.selectFrom("customerNote").select(["seq", "wall", "author", "note"]);
  return query.where("cuid", "=", cuid).where("environment", "=", environment).orderBy("seq", "desc").execute();
}

/** A note for a terminal. */
export function noteLine({ wall, author, note }: Note): string {
  return printable(`${wall} ${author}: ${note}`);
}
