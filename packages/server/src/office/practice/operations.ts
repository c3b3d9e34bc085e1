import { type Static, Type } from "typebox";
import type { Partner } from "../../domain/access-token.ts";
import { partnerCertified } from "../../domain/audit.ts";
import type { TrialCall } from "../../domain/practice.ts";
import { type ListedOutcome, PRACTICE_RULES, practiceReport } from "../../domain/practice-report.ts";
import { isoTime } from "../../domain/wall-time.ts";
import type { ProviderSettings } from "../../store/store.ts";
import { decide } from "../decide.ts";
import { fileOf } from "../fields.ts";
import type { Office } from "../office.ts";
import { type Operation, operation, type Shown } from "../operation.ts";
import { noPartner, PartnerName } from "../partners/presenter.ts";
import { findPartner } from "../partners/sql.ts";
import { count, printable, table } from "../text.ts";
import { PracticeReportSchema } from "./schemas.ts";
import { findCertificate, readPracticeCalls, readPracticeTopUps, writeCertificate } from "./sql.ts";

/* The report on a partner's practice with faults, and its certificate. */

type Report = Static<typeof PracticeReportSchema>;

const MOST_SHOWN = 10;

export const showPractice = operation({
  tag: "Partners",
  permission: "read",
  http: "GET /partners/:partner/practice",
  summary: "Report a partner's practice with faults, without its list",
  input: Type.Object({ partner: PartnerName }),
  answer: PracticeReportSchema,
  run: async (office, { partner }) => reportOn(office, await partnerNamed(office, partner)),
});

export const certifyPractice = operation({
  tag: "Partners",
  permission: "administer",
  http: "POST /partners/:partner/practice",
  summary: "Report a partner's practice with faults, and certify the partner if all are passed with its list",
  input: Type.Object({
    partner: PartnerName,
    list: Type.Optional(fileOf("The partner's own list, a CSV file: order,checkoutId,outcome (paid, refunded, open).")),
  }),
  answer: PracticeReportSchema,
  cli: [
    {
      words: "partner practice",
      arguments: ["partner"],
      show: reportLines,
      summary:
        "report a partner's practice with faults, and certify the partner if all are passed (exit code 3: failed)",
      examples: ['topupd partner practice "Blue Wallet"', 'topupd partner practice "Blue Wallet" --list orders.csv'],
    },
  ],
  async run(office, { partner: name, list: file }) {
    const partner = await partnerNamed(office, name);
    if (file === undefined) return reportOn(office, partner);
    // The CSV reader is loaded only if it is needed.
    const { readPracticeList } = await import("../../csv/reading.ts");
    const report = await reportOn(office, partner, await readPracticeList(file.open()));
    return report.passed && report.certificate === null ? certified(office, report) : report;
  },
});

/** Certifies a partner. The first certificate stays. */
function certified(office: Office, report: Report): Promise<Report> {
  return decide(office, "reference", async (tx) => {
    const before = (await findPartner(tx, report.partner)) ?? noPartner(report.partner);
    const former = await findCertificate(tx, before.id);
    if (former !== undefined) return { answer: { ...report, certificate: former } };
    const { at } = office.by;
    const faults = report.faults.map(({ fault, checkoutId }) => ({ fault, checkoutId: checkoutId ?? "" }));
    const certificate = { certifiedAt: isoTime(at), versions: report.versions, faults };
    const write = () => writeCertificate(tx, before.id, at, certificate);
    return {
      answer: { ...report, certificate },
      change: { write, audit: [partnerCertified(before, at)] },
    };
  });
}

async function partnerNamed({ store }: Office, name: string): Promise<Partner> {
  return (await findPartner(store.engine.db, name)) ?? noPartner(name);
}

async function reportOn(
  { store: { engine }, by: { at: now }, giveWay }: Office,
  { id, name }: Partner,
  list?: ReadonlyMap<string, ListedOutcome>,
): Promise<Report> {
  giveWay();
  const calls = await readPracticeCalls(engine.db, id);
  const topUps = await readPracticeTopUps(engine, id, now);
  const faults = practiceReport({ calls, topUps, list, now }).map(({ checkoutId, listed, broken, ...result }) => ({
    ...{ ...result, checkoutId: checkoutId ?? null, listed: listed ?? null },
    calls: [...result.calls.slice(0, MOST_SHOWN), ...result.calls.slice(MOST_SHOWN).slice(-MOST_SHOWN)].map(callData),
    broken: broken.map(({ rule, detail, calls: proof }) => {
      return { rule, problem: detail ?? PRACTICE_RULES[rule], calls: proof.map(callData) };
    }),
  }));
  return {
    ...{ partner: name, at: isoTime(now), versions: versionsOf(calls, faults) },
    ...{ calls: calls.length, topUps: topUps.length, hasList: list !== undefined },
    passed: list !== undefined && faults.every(({ verdict }) => verdict === "passed"),
    certificate: (await findCertificate(engine.db, id)) ?? null,
    faults,
  };
}

/** The versions of the calls about the judged top-ups. */
function versionsOf(calls: readonly TrialCall[], faults: readonly { readonly checkoutId: string | null }[]): string[] {
  const judged = new Set(faults.map(({ checkoutId }) => checkoutId));
  const own = calls.filter(({ checkoutId }) => checkoutId !== undefined && judged.has(checkoutId));
  return [...new Set(own.map(({ version }) => version))].sort();
}

function callData({ at, operation: called, checkoutId = "", outcome }: TrialCall) {
  return { at: isoTime(at), operation: called, checkoutId, outcome };
}

const COLUMNS = ["fault", "verdict", "recorded", "listed", "checkoutId"] as const;

function reportLines(report: Report, { zone }: ProviderSettings): Shown {
  const { faults, passed, certificate, hasList } = report;
  const rows = faults.map(({ fault, verdict, recorded, listed, checkoutId }) => {
    return { fault, verdict: verdict.replace("_", " "), recorded, listed, checkoutId };
  });
  const failed = faults.filter(({ verdict }) => verdict === "failed");
  const timed = (calls: Report["faults"][number]["calls"]) =>
    table(
      ["at", "operation", "outcome", "checkoutId"],
      // The rules for speed need milliseconds.
      calls.map((call) => ({ ...call, at: zone.wallTime(Date.parse(call.at)) + call.at.slice(19, 23) })),
    );
  const proofs = failed.flatMap(({ fault, broken }) =>
    broken.map(({ rule, problem, calls }) => `\n${fault}: ${ruleWords(rule)}. ${problem}\n${timed(calls)}`),
  );
  const since = certificate && `certified since ${zone.wallTime(Date.parse(certificate.certifiedAt))}`;
  const missing = passed || hasList || certificate ? "" : " A certificate needs the partner's list: add --list.";
  const certified = certificate
    ? `\nCertificate, ${since}, ${certificate.versions.join(", ")}:\n${table(["fault", "checkoutId"], certificate.faults)}`
    : "";
  return {
    out: table(COLUMNS, rows) + proofs.join("") + certified,
    note: `${printable(report.partner)} is ${since ?? "not certified"}.${missing}\n`,
    wrong: failed.length === 0 ? undefined : `the partner failed ${count(failed.length, "fault")}`,
  };
}

function ruleWords(rule: string): string {
  const words = rule.replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

export const operations: readonly Operation[] = [showPractice, certifyPractice];
