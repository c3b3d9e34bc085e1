import { expect, test } from "vitest";
import { Recording } from "../../src/partner/ports.ts";
import { StoreUnavailable } from "../../src/store/errors.ts";
import { wellState } from "../../src/system/service-state.ts";

test("a top-up that is recorded ends a failure of another process, and a later failure is heard of", () => {
  const state = wellState();
  const heard: (string | undefined)[] = [];
  const recording = new Recording(
    () => 9,
    state,
    (trouble) => heard.push(trouble),
  );
  recording.succeeded();
  expect(heard).toEqual([]);
  state.recordingFailsSince = 5;
  recording.succeeded();
  expect([state.recordingFailsSince, heard]).toEqual([undefined, [undefined]]);
  recording.failed(new StoreUnavailable("the disk is full"));
  expect([state.recordingFailsSince, heard]).toEqual([9, [undefined, "the disk is full"]]);
});
