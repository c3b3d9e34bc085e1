import { integer, readTextLine } from "./setting-values.ts";

/** Settings of the backups that a timer makes, a part of the table of settings. */
export const BACKUP_SETTINGS = {
  backupFolder: {
    placeholder: "PATH",
    description: "folder of hourly backups, which must exist; if not set, none are expected",
    read: readTextLine,
  },
  backupHours: {
    placeholder: "NUMBER",
    fallback: "48",
    description: "number of hours whose newest backup is kept",
    read: integer(1, 99_999),
  },
  backupDays: {
    placeholder: "NUMBER",
    fallback: "30",
    description: "number of days whose newest backup is kept",
    read: integer(0, 10_000),
  },
};
