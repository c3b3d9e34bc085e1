import { type Static, Type } from "typebox";
import { LISTED_OUTCOMES, PRACTICE_RULES, PRACTICE_VERDICTS, type PracticeRule } from "../../domain/practice-report.ts";
import { InstantSchema, oneOf, orNull } from "../common.ts";

const PracticeCallSchema = Type.Object(
  {
    at: InstantSchema,
    operation: Type.String(),
    checkoutId: Type.String(),
    outcome: Type.String({ description: "success, replayed, no_answer, proxy_error, or the reason of the failure." }),
  },
  { title: "PracticeCall" },
);

const PracticeResultSchema = Type.Object(
  {
    fault: Type.String({ description: "Username of the practice connection." }),
    verdict: oneOf(PRACTICE_VERDICTS),
    checkoutId: orNull(Type.String({ description: "The last top-up that met the fault: the one that counts." })),
    recorded: oneOf(["no", "success", "reversed"]),
    listed: orNull(oneOf(LISTED_OUTCOMES, "Outcome in the partner's list.")),
    broken: Type.Array(
      Type.Object({
        rule: oneOf(Object.keys(PRACTICE_RULES) as PracticeRule[]),
        problem: Type.String(),
        calls: Type.Array(PracticeCallSchema, { description: "The calls that prove it." }),
      }),
    ),
    calls: Type.Array(PracticeCallSchema, { description: "Calls with this checkoutId: the first 10 and the last 10." }),
  },
  { title: "PracticeResult" },
);

const VersionsSchema = Type.Array(Type.String(), {
  description: "Versions of the interface that the partner practised.",
});

const CertificateSchema = Type.Object(
  {
    certifiedAt: InstantSchema,
    versions: VersionsSchema,
    faults: Type.Array(Type.Object({ fault: Type.String(), checkoutId: Type.String() }, { title: "CertifiedFault" })),
  },
  { title: "PracticeCertificate", description: "The first report with all faults passed. It never changes." },
);
export type Certificate = Static<typeof CertificateSchema>;

export const PracticeReportSchema = Type.Object(
  {
    partner: Type.String(),
    at: InstantSchema,
    versions: VersionsSchema,
    calls: Type.Integer({ description: "Calls about the practice customer's top-ups, of the last 30 days." }),
    topUps: Type.Integer({ description: "Recorded top-ups of the practice customer, of the last 30 days." }),
    hasList: Type.Boolean({ description: "Whether the partner's list is part of the report." }),
    passed: Type.Boolean({ description: "Whether each fault is passed, with the partner's list." }),
    certificate: orNull(CertificateSchema),
    faults: Type.Array(PracticeResultSchema),
  },
  { title: "PracticeReport" },
);
