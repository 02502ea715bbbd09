/** How some servers begin an error where others write `data:`, and an event that says the same. */
const FIELD = 'error:';
const AS_EVENT = 'event: error\ndata:';

const LAST_LINE = /[^\r\n]*$/;

/**
 * Makes events of the fields that some servers write in place of `data` when they fail. A parser
 * passes over a field that it does not know; with the `[DONE]` that follows, half an answer would
 * look whole.
 */
export function createErrorFieldStream(): TransformStream<string, string> {
  /** The end of what came, while it may still become such a field. */
  let held = '';
  let isLineBegun = false;

  function asEvents(text: string): string {
    const pattern = isLineBegun ? /([\r\n])error:/g : /(^|[\r\n])error:/g;
    return text.includes(FIELD) ? text.replace(pattern, `$1${AS_EVENT}`) : text;
  }

  return new TransformStream({
    transform(chunk, controller) {
      const text = held + chunk;
      const [last = ''] = LAST_LINE.exec(text) ?? [];
      const isWholeLine = last.length < text.length || !isLineBegun;
      held = isWholeLine && FIELD.startsWith(last) && last !== FIELD ? last : '';
      controller.enqueue(asEvents(text.slice(0, text.length - held.length)));
      isLineBegun = held === '' && (last !== '' || (text === '' && isLineBegun));
    },
    flush: (controller) => controller.enqueue(held),
  });
}
