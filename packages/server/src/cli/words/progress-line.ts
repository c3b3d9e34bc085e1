import type { Runtime } from "../runtime.ts";

/** One line on a terminal that is written over and over; nothing where nobody watches. */
export function progressLine({ isTerminal, stderr }: Runtime) {
  const end = () => {
    if (isTerminal) stderr("\r\u001b[K");
  };
  return {
    show(text: string): void {
      if (isTerminal) stderr(`\r\u001b[K${text}`);
    },
    /** Says something that stays. */
    interrupt(text: string): void {
      end();
      stderr(text);
    },
    end,
  };
}
