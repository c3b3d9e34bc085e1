export type { Level } from "./checks/check.ts";
export type { Service, Version } from "./facts.ts";
export { type ConformanceOptions, type Purchase, type WebhookOptions, WrongOption } from "./options.ts";
export type { CheckResult, Note, Report } from "./report.ts";
export { runConformance, ServiceUnreachable } from "./run.ts";
