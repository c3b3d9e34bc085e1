/** A fault that is planted in a copy of the source, and what must find it. */
export type Mutant = {
  /** What is wrong then, in words. */
  readonly fault: string;
  /** File of the repository. */
  readonly file: string;
  /** Text that is in the file once, and its replacement. */
  readonly from: string;
  readonly to: string;
} & (
  | {
      /** The campaign that must find it, with its size. */
      readonly campaign: string;
    }
  | {
      /** The file of tests that must find it. */
      readonly test: string;
      /** Words of a title, if only these tests are run. */
      readonly title?: string;
    }
);
