import { expect, test } from "vitest";
import { commandLine } from "../support/command-line.ts";

// Of these, topupd meets all but the last while its parts are loaded, some of them in packages that Node then calls missing,
// and the last while those are loaded that only serving needs.
test.each([30, 36, 40, 44, 64, 100])(
  "a service that may open %i files at most says what to raise, and is no defect",
  async (files) => {
    const { code, stdout, stderr } = await commandLine().runLimited(`ulimit -n ${files}`, "serve", "--port", "0");
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(
      /^topupd: no more files can be opened: raise the limit of this process to 1024 or more, by `ulimit -n`, LimitNOFILE in .*\n$/,
    );
  },
);
