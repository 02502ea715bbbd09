/** One thing that the published interface, or a choice of ours where it is silent, promises. */
export interface Rule {
  id: string;
  /** In a sentence. */
  rule: string;
  /**
   * The tests that show it: `<file below tests, without .test.ts> › <title>`, the title with those
   * of its `describe` where it alone is not unique. Or what no test shows yet.
   */
  shown: readonly string[] | { open: string };
}
