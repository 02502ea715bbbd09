import type { Schema } from '../../api/docs/openApi.ts';
import type { Random } from '../../testing/random.ts';

/** Values made from schemas: mostly what they describe, now and then something near it. */
export interface FuzzValues {
  /** A value of this schema, or, in about one of ten places, any other. */
  like(schema: Schema): unknown;
  text(): string;
  oneOf<Item>(items: readonly Item[]): Item;
  /** True once in `times`. */
  once(times: number): boolean;
}

const EDGES = [0, -0, 1, -1, 0.5, 1e-300, 2 ** 31 - 1, 2 ** 31, 2 ** 53, 1e308, -1e308];
const TEXTS = [
  ...['', ' ', 'a', 'null', '0', '__proto__', 'constructor', 'a..b', "'; select 1 --", '{{x}}'],
  ...['\0', '\n', '\ufeff', '\u202e', '\u{1f600}', 'é', '<script>', '%s%n', 'x'.repeat(5_000)],
];

/**
 * @param options.known values that let a request get further than its form, by the name of a field
 * @param options.resolve finds what a `$ref` names
 */
export function createFuzzValues(options: {
  random: Random;
  known: Record<string, readonly unknown[]>;
  resolve: (ref: string) => Schema;
}): FuzzValues {
  const { random, known, resolve } = options;

  function oneOf<Item>(items: readonly Item[]): Item {
    return items[random.below(items.length)] as Item;
  }
  const once = (times: number) => random.below(times) === 0;
  const text = () => oneOf(TEXTS);

  function anything(depth = 0): unknown {
    const kinds = depth > 3 ? 4 : 6;
    switch (random.below(kinds)) {
      case 0:
        return null;
      case 1:
        return once(2);
      case 2:
        return oneOf(EDGES);
      case 3:
        return text();
      case 4:
        return Array.from({ length: random.below(4) }, () => anything(depth + 1));
      default:
        return { [text()]: anything(depth + 1) };
    }
  }

  function objectOf({ properties = {}, required = [] }: Schema): unknown {
    const fields = Object.entries(properties).flatMap(([name, property]) => {
      if (once(20) || (!required.includes(name) && !once(4))) return [];
      const value = known[name] && !once(10) ? oneOf(known[name]) : like(property);
      return [[name, value] as const];
    });
    return Object.fromEntries(once(10) ? [...fields, [text(), anything()]] : fields);
  }

  function numberOf({ minimum = -10, maximum = 10, type }: Schema): number {
    const number = minimum + (maximum - minimum) * (random.below(1_001) / 1_000);
    return type === 'integer' ? Math.round(number) : number;
  }

  function like(schema: Schema): unknown {
    if (once(10)) return anything();
    if (schema.$ref) return like(resolve(schema.$ref));
    if (schema.anyOf) return like(oneOf(schema.anyOf));
    if (schema.enum) return oneOf(schema.enum);
    if (schema.const !== undefined) return schema.const;
    const type = Array.isArray(schema.type) ? oneOf(schema.type) : schema.type;
    switch (type) {
      case 'object':
        return objectOf(schema);
      case 'array': {
        const length = (schema.minItems ?? 0) + random.below(3);
        return Array.from({ length }, () => like(schema.items ?? {}));
      }
      case 'integer':
      case 'number':
        return numberOf({ ...schema, type });
      case 'boolean':
        return once(2);
      case 'null':
        return null;
      case 'string':
        return text();
      default:
        return anything();
    }
  }

  return { like, text, oneOf, once };
}
