export interface Fence {
  readonly language: string;
  readonly lines: readonly string[];
}

/** The cells of all table rows, without the rows of dashes. */
export function tableRows(text: string): string[][] {
  return outsideFences(text)
    .split("\n")
    .filter((line) => line.startsWith("|") && !/^\|[-|]+$/.test(line))
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}

export function unquote(cell: string): string {
  return cell.replace(/^`(.*)`$/, "$1");
}

/** All pieces of text that are set as code. */
export function quoted(text: string): string[] {
  return [...text.matchAll(/`([^`\n]+)`/g)].map((match) => match[1] as string);
}

export function readFences(text: string): Fence[] {
  return [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(([, language = "", body = ""]) => ({
    language,
    lines: body.trimEnd().split("\n"),
  }));
}

export function outsideFences(text: string): string {
  return text.replace(/^```[\s\S]*?^```$/gm, "");
}

/** Anchors of all headings, as usual renderers make them: lower case, dashes for blanks, no other marks. */
export function headingAnchors(text: string): string[] {
  return [...outsideFences(text).matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_ -]/gu, "")
      .replaceAll(" ", "-"),
  );
}
