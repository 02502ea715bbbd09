import { createHash } from 'node:crypto';

/** What was sent so far, as the client will hash it. */
export interface Transcript {
  /** Takes one delta of the engine and returns the text that may be sent now, possibly none. */
  add(delta: string): string;
  /** What is still held when no further delta comes. */
  flush(): string;
  /** sha256 over the UTF-8 of everything returned by `add` and `flush`. */
  outputHash(): Uint8Array;
  /** UTF-8 length of the same text. */
  readonly bytes: number;
  /** Deltas of the engine that held text; an engine sends at least one token in each. */
  readonly deltas: number;
}

const HIGH_SURROGATE_AT_END = /[\uD800-\uDBFF]$/;

/**
 * Keeps text, hash and counts of an answer in step.
 *
 * Some upstreams cut an escaped surrogate pair in two. UTF-8 cannot carry a half, so a first half is
 * held until its second arrives; a half that stays alone becomes U+FFFD before it is sent or hashed.
 */
export function createTranscript(): Transcript {
  const hash = createHash('sha256');
  let held = '';
  let bytes = 0;
  let deltas = 0;

  function release(text: string): string {
    const sent = text.toWellFormed();
    hash.update(sent, 'utf8');
    bytes += Buffer.byteLength(sent);
    return sent;
  }

  return {
    add(delta) {
      if (delta !== '') deltas += 1;
      const text = held + delta;
      held = HIGH_SURROGATE_AT_END.exec(text)?.[0] ?? '';
      return release(text.slice(0, text.length - held.length));
    },
    flush() {
      const rest = held;
      held = '';
      return release(rest);
    },
    outputHash: () => Uint8Array.from(hash.copy().digest()),
    get bytes() {
      return bytes;
    },
    get deltas() {
      return deltas;
    },
  };
}
