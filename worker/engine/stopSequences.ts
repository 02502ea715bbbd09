/** What may be sent after a token, and whether a stop sequence was met. */
export interface StopScan {
  text: string;
  isStopped: boolean;
}

/**
 * Watches a text that comes in pieces for sequences that end it. A stop sequence itself is never
 * sent, so text that may be the beginning of one is held back until that is decided.
 */
export function createStopScanner(stop: string | string[] | undefined): {
  add(token: string): StopScan;
  /** What was held back when the text ends by itself. */
  flush(): string;
} {
  const sequences = [stop ?? []].flat();
  let held = '';
  return {
    add(token) {
      held += token;
      const found = sequences.map((sequence) => held.indexOf(sequence)).filter((at) => at >= 0);
      if (found.length > 0) {
        const text = held.slice(0, Math.min(...found));
        held = '';
        return { text, isStopped: true };
      }
      const kept = Math.max(0, ...sequences.map((sequence) => overlap(held, sequence)));
      const text = held.slice(0, held.length - kept);
      held = held.slice(text.length);
      return { text, isStopped: false };
    },
    flush: () => held,
  };
}

/** The length of the longest end of `text` that `sequence` begins with. */
function overlap(text: string, sequence: string): number {
  for (let length = Math.min(text.length, sequence.length - 1); length > 0; length -= 1) {
    if (text.endsWith(sequence.slice(0, length))) return length;
  }
  return 0;
}
