import { it } from '@jest/globals';

/** A test that goes on where the one before it ended. */
type Step = (title: string, run: () => Promise<void>, as?: typeof it) => void;

/**
 * Makes an `it` for tests that follow each other. Once one fails, each one behind it names it and does
 * not run: it would fail by consequences alone.
 */
export function createStory(): Step {
  let unfinished: string | undefined;
  return (title, run, as = it) => {
    as(title, async () => {
      if (unfinished) throw new Error(`Did not run, since this failed before: ${unfinished}`);
      unfinished = title;
      await run();
      unfinished = undefined;
    });
  };
}
