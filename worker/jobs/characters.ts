const FIRST_HALF_AT_END = /[\uD800-\uDBFF]$/;

/**
 * Splits a text that goes on into its whole characters and a first half that waits for its second. Some
 * upstreams split an escaped surrogate pair, and UTF-8 cannot carry a half.
 */
export function splitFirstHalfOff(text: string): [whole: string, held: string] {
  const held = FIRST_HALF_AT_END.exec(text)?.[0] ?? '';
  return [text.slice(0, text.length - held.length), held];
}

/** Joins deltas at whole characters. A lone half becomes U+FFFD. */
export function createCharacterJoiner() {
  let held = '';
  return {
    add(delta: string): string {
      const [whole, half] = splitFirstHalfOff(held + delta);
      held = half;
      return whole.toWellFormed();
    },
    /** @returns what was held back */
    flush(): string {
      const rest = held.toWellFormed();
      held = '';
      return rest;
    },
    get heldCharacters() {
      return held.length;
    },
  };
}
