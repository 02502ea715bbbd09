/** How some servers begin an error where others write `data:`, and an event that says the same. */
const FIELD = 'error:';
const AS_EVENT = 'event: error\ndata:';

/** Text that comes in pieces, with its fields of errors made events. */
export interface ErrorFields {
  /** @returns what can be passed on by now */
  add(piece: string): string;
  /** @returns what was held back, at the end */
  flush(): string;
}

/**
 * Makes events of the fields that some servers write in place of `data` when they fail. A parser
 * passes over a field that it does not know; with the `[DONE]` that follows, half an answer would
 * look whole.
 */
export function createErrorFields(): ErrorFields {
  /** The end of what came, while it may still become such a field. */
  let held = '';
  let isLineBegun = false;

  function asEvents(text: string): string {
    const pattern = isLineBegun ? /([\r\n])error:/g : /(^|[\r\n])error:/g;
    return text.includes(FIELD) ? text.replace(pattern, `$1${AS_EVENT}`) : text;
  }

  return {
    add(piece) {
      const text = held + piece;
      const last = text.slice(Math.max(text.lastIndexOf('\n'), text.lastIndexOf('\r')) + 1);
      const isWholeLine = last.length < text.length || !isLineBegun;
      held = isWholeLine && FIELD.startsWith(last) && last !== FIELD ? last : '';
      const passed = asEvents(text.slice(0, text.length - held.length));
      isLineBegun = held === '' && (last !== '' || (text === '' && isLineBegun));
      return passed;
    },
    flush: () => held,
  };
}
