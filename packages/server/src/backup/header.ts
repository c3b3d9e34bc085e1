import { isCountry } from "../domain/mobile-number.ts";
import { MAX_CURRENCY_EXPONENT } from "../domain/money.ts";
import type { Instant } from "../domain/wall-time.ts";
import { isTimeZone } from "../domain/zone.ts";
import { ARCHIVE_COLUMNS } from "../store/archive.ts";
import { BackupRefused } from "./errors.ts";

/** What a backup says of itself. */
export interface BackupHeader {
  /** The version of the topupd that made it. */
  readonly topupd: string;
  /** Everything that was acknowledged before it is in the backup. */
  readonly takenAt: Instant;
  /** The kind of the store that it was taken of: it can be restored into the other as well. */
  readonly store: string;
  readonly timeZone: string;
  readonly currencyExponent: number;
  /** Undefined where the provider has named none. */
  readonly defaultCountry: string | undefined;
}

/** Raised whenever older readers would misread the lines. */
const FORMAT = 1;

/** The columns are a part of what is written: rows are lists of their values. */
const TABLES = JSON.stringify(ARCHIVE_COLUMNS);

export function headerLine({ topupd, takenAt, ...facts }: BackupHeader): string {
  const time = new Date(takenAt).toISOString();
  return JSON.stringify({ backup: "topupd", format: FORMAT, topupd, takenAt: time, ...facts, tables: ARCHIVE_COLUMNS });
}

/** @throws BackupRefused where this topupd cannot restore what follows; the message says which one can. */
export function readHeaderLine(line: Readonly<Record<string, unknown>>): BackupHeader {
  const { backup, format, topupd, takenAt, store, timeZone, currencyExponent, defaultCountry, tables } = line;
  if (backup !== "topupd" || typeof topupd !== "string" || typeof format !== "number") throw noHeader();
  if (format > FORMAT)
    throw new BackupRefused(
      `is of a newer format than this topupd knows: it was made by topupd ${topupd}, which can restore it`,
    );
  const time = typeof takenAt === "string" ? Date.parse(takenAt) : Number.NaN;
  if (typeof timeZone !== "string" || !isTimeZone(timeZone) || !isExponent(currencyExponent)) throw noHeader();
  if (defaultCountry !== undefined && (typeof defaultCountry !== "string" || !isCountry(defaultCountry)))
    throw noHeader();
  if (typeof store !== "string" || Number.isNaN(time)) throw noHeader();
  if (JSON.stringify(tables) !== TABLES)
    throw new BackupRefused(
      `holds other tables than those of this topupd: restore it with topupd ${topupd}, which made it, and let this one bring that database up to date`,
    );
  return { topupd, takenAt: time, store, timeZone, currencyExponent, defaultCountry };
}

function isExponent(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= MAX_CURRENCY_EXPONENT;
}

function noHeader(): BackupRefused {
  return new BackupRefused("does not say what it is a backup of, in a way that this topupd understands");
}
