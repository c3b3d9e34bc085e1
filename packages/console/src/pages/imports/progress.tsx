import type { Upload } from "../../api/staff-api.d.ts";
import { Time } from "../../components/display.tsx";
import { Note, Progress } from "../../components/states.tsx";
import { formatCount } from "../../format.ts";
import { texts } from "../../texts/index.ts";

const t = texts.imports;

/** Storage key of the last sent file. */
export const LAST_UPLOAD = "lastUpload";

export function isUnderWay(state: Upload["state"]): boolean {
  return state === "checking" || state === "writing";
}

/** How far the check, or the import, is. */
export function UploadProgress({ upload: { state, lines, report } }: { upload: Upload }) {
  const all = (report?.["accepted"] ?? 0) + (report?.["rejected"] ?? 0);
  return (
    <Note>
      {state === "writing" && all > 0 ? (
        <Progress label={t.writing} share={lines / all} />
      ) : (
        <p role="status">{t.checking(formatCount(lines))}</p>
      )}
      <p>{t.canLeave}</p>
    </Note>
  );
}

/** Shows an `as of` as given: UTC instant or provider's wall time. */
export function AsOf({ of }: { of: string }) {
  return Number.isNaN(Date.parse(of.replace(" ", "T"))) ? of : <Time of={of} />;
}
