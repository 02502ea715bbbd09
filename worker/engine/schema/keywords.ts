import { createContext, Script } from 'node:vm';
import { z } from 'zod';

/** The schema asks for what nothing meets, for more than may be built, or in words not known here. */
export class SchemaRefusedError extends Error {
  override name = 'SchemaRefusedError';
}

const TYPES = ['null', 'boolean', 'integer', 'number', 'string', 'array', 'object'] as const;

export type Type = (typeof TYPES)[number];

const type = z.enum(TYPES);
const count = z.number().min(0);
const schemas = z.record(z.string(), z.unknown());
const list = z.array(z.unknown());

/**
 * What is known of one level of a schema; the levels below are read when they are reached. Conditions
 * may be anything.
 */
const level = z
  .looseObject({
    $ref: z.string(),
    type: z.union([type, z.array(type)]).transform((types) => [types].flat()),
    enum: list,
    const: z.unknown(),
    multipleOf: z.number().positive(),
    minimum: z.number(),
    maximum: z.number(),
    exclusiveMinimum: z.number(),
    exclusiveMaximum: z.number(),
    minLength: count,
    maxLength: count,
    pattern: z.string(),
    format: z.string(),
    minItems: count,
    maxItems: count,
    uniqueItems: z.boolean(),
    items: z.unknown(),
    prefixItems: list,
    minProperties: count,
    maxProperties: count,
    properties: schemas,
    patternProperties: schemas,
    additionalProperties: z.unknown(),
    propertyNames: z.unknown(),
    required: z.array(z.string()),
    dependentRequired: z.record(z.string(), z.array(z.string())),
    allOf: list,
    anyOf: list,
    oneOf: list,
    not: z.unknown(),
  })
  .partial();

export type Level = z.infer<typeof level>;

/** Keywords that forbid values and are not understood here; all further ones only describe. */
const UNKNOWN = [
  ...['contains', 'dependentSchemas', 'dependencies', 'additionalItems', '$dynamicRef'],
  ...['unevaluatedProperties', 'unevaluatedItems', '$recursiveRef'],
];

const STEPS_MAX = 100_000;

/** A schema that a client sent, read one level at a time, in a bounded number of steps. */
export interface SchemaReader {
  /** @throws SchemaRefusedError for what is malformed or not understood, and when no step is left */
  read(schema: unknown): Level;
  /** The schema that a reference names. @throws SchemaRefusedError when it leads nowhere */
  resolve(reference: string): unknown;
  /** Takes steps for work that grows with a number of the schema. @throws SchemaRefusedError */
  spend(steps: number): void;
}

/** @param root the whole schema, which references lead into */
export function createSchemaReader(root: unknown): SchemaReader {
  let stepsLeft = STEPS_MAX;

  function spend(steps: number): void {
    stepsLeft -= steps;
    if (stepsLeft < 0) throw new SchemaRefusedError('it takes too many steps');
  }

  return {
    spend,
    read(schema) {
      spend(1);
      if (schema === true) return {};
      if (schema === false) return { not: true };
      const { data } = level.safeParse(schema);
      if (data && UNKNOWN.every((keyword) => !Object.hasOwn(data, keyword))) return data;
      throw new SchemaRefusedError('it is malformed, or uses a keyword that is not known here');
    },
    resolve(reference) {
      const [start, ...path] = reference.split('/').map(nameIn);
      const target = path.reduce<unknown>(
        (place, name) =>
          Object.hasOwn(Object(place), name) ? (place as Record<string, unknown>)[name] : undefined,
        root,
      );
      if (start === '#' && target !== undefined) return target;
      throw new SchemaRefusedError('a reference leads nowhere');
    },
  };
}

/** The name in one step of a JSON Pointer within a URL. */
function nameIn(step: string): string {
  try {
    return decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch (cause) {
    throw new SchemaRefusedError('a reference cannot be read', { cause });
  }
}

/** The schemas that a property's value must meet. */
export function schemasOfProperty(
  { properties = {}, patternProperties = {}, additionalProperties = true }: Level,
  name: string,
): unknown[] {
  const own = Object.hasOwn(properties, name) ? [properties[name]] : [];
  const matching = Object.entries(patternProperties).flatMap(([pattern, schema]) =>
    matches(pattern, name) ? [schema] : [],
  );
  const all = [...own, ...matching];
  return all.length > 0 ? all : [additionalProperties];
}

/** Some patterns take years for thirty letters, and the client writes pattern and text. */
const MATCH_MS_MAX = 100;
/** On a busy machine the time limit may pass although the process has used less than this. */
const MATCH_CPU_MICROSECONDS_MIN = 50_000;
const MATCH = new Script("new RegExp(pattern, 'u').test(text)");
const sandbox = createContext({ pattern: '', text: '' });

/** @throws SchemaRefusedError when the pattern is none, or takes too long */
export function matches(pattern: string, text: string): boolean {
  Object.assign(sandbox, { pattern, text });
  const begun = process.cpuUsage();
  for (;;) {
    try {
      return MATCH.runInContext(sandbox, { timeout: MATCH_MS_MAX });
    } catch (cause) {
      const { user, system } = process.cpuUsage(begun);
      const isLate = (cause as { code?: string }).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
      if (isLate && user + system < MATCH_CPU_MICROSECONDS_MIN) continue;
      throw new SchemaRefusedError('a pattern cannot be read, or takes too long', { cause });
    }
  }
}
