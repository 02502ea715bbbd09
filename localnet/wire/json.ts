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

/** TypeScript does not know it yet. */
const { rawJSON: rawJson } = JSON as typeof JSON & { rawJSON(text: string): unknown };
