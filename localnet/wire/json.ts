/** A JSON text that is an answer as it stands. */
export class Serialized {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** An unsigned number for JSON: exact, also beyond what a double holds. */
export function exact(value: bigint): unknown {
  return value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : rawJson(String(value));
}

export function serialize(value: unknown): string {
  return value instanceof Serialized ? value.text : JSON.stringify(value);
}

/** Reads JSON so that it can be told again to the last digit: what a double rounds stays a text. */
export function parseExact(text: string): unknown {
  return parseWithSource(text, (_, value, { source }) =>
    typeof value === 'number' && source !== undefined && !Number.isSafeInteger(value)
      ? rawJson(source)
      : value,
  );
}

const parseWithSource = JSON.parse as (
  text: string,
  revive: (key: string, value: unknown, context: { source?: string }) => unknown,
) => unknown;
/** TypeScript does not know it yet. */
const { rawJSON: rawJson } = JSON as typeof JSON & { rawJSON(text: string): unknown };
