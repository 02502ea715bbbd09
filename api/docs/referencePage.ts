import { fenced, table } from './markdown.ts';
import type {
  CodeSample,
  MediaType,
  OpenApiDocument,
  Operation,
  Parameter,
  Response,
  Schema,
} from './openApi.ts';
import type { Page } from './page.ts';

type Schemas = OpenApiDocument['components']['schemas'];

/** An operation of the document, or an event, with the heading that it is found by. */
interface Entry {
  readonly heading: string;
  /** Method and path; absent for an event. */
  readonly address?: string;
  readonly operation: Operation;
}

/** GET /docs/reference: the OpenAPI document, readable. */
export function referencePage(document: OpenApiDocument): Page {
  const { info, servers, components, tags } = document;
  const entries: Entry[] = [
    ...Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({
        heading: operation.summary,
        address: `**${method.toUpperCase()}** \`${path}\``,
        operation,
      })),
    ),
    ...Object.entries(document.webhooks).map(([kind, { post: operation }]) => ({
      heading: `\`${kind}\``,
      operation,
    })),
  ];
  const sections = tags.flatMap(({ name, description }) => [
    `## ${name}`,
    description,
    ...entries
      .filter(({ operation }) => operation.tags.includes(name))
      .flatMap((entry) => describeOperation(entry, document)),
  ]);
  const parts = [
    `# ${info.title}`,
    `Version ${info.version}, base address \`${servers[0]?.url}\`, [OpenAPI 3.1 document](/openapi.json).`,
    info.description,
    '## Authentication',
    'Every request carries the header `Authorization: Bearer <API_KEY>`.',
    components.securitySchemes.apiKey?.description ?? '',
    '## Errors',
    'Every error has the same body. [All codes](/docs/errors) say what they mean and what to do.',
    describeFields({ $ref: '#/components/schemas/Error' }, components.schemas),
    ...sections,
  ];
  return {
    path: '/docs/reference',
    source: '/docs/reference.md',
    title: 'API reference',
    summary: 'Every endpoint and event with its fields, headers, errors and examples.',
    text: `${parts.join('\n\n')}\n`,
  };
}

function describeOperation(
  { heading, address, operation }: Entry,
  document: OpenApiDocument,
): string[] {
  const { schemas } = document.components;
  const { parameters = [], requestBody, responses } = operation;
  const json = (content: Record<string, MediaType> | undefined) => content?.['application/json'];
  const success = responses['200'];
  const stream = success?.content?.['text/event-stream'];
  return [
    `### ${heading}`,
    ...(address ? [address] : []),
    operation.description,
    ...describeParameters(parameters),
    ...describeBody('Body', json(requestBody?.content), schemas),
    ...describeBody('Answer', json(success?.content), schemas),
    ...(stream
      ? [
          '#### Streamed answer',
          stream.schema.description ?? '',
          describeFields({ $ref: '#/components/schemas/ChatCompletionChunk' }, schemas),
          fenced('sse', String(stream.example)),
        ]
      : []),
    ...(success ? describeHeaders(success, document) : []),
    ...describeErrors(responses),
    ...describeSamples(operation['x-codeSamples']),
  ];
}

function describeParameters(parameters: readonly Parameter[]): string[] {
  if (parameters.length === 0) return [];
  const rows = parameters.map(({ name, in: place, schema, description }) => [
    `\`${name}\``,
    `${typeOf(schema, {})}, ${place}`,
    `${description}${limitsOf(schema, {})}`,
  ]);
  return ['#### Parameters', table(['Name', 'Type', 'Meaning'], rows)];
}

function describeBody(heading: string, body: MediaType | undefined, schemas: Schemas): string[] {
  if (body === undefined) return [];
  return [
    `#### ${heading}`,
    describeFields(body.schema, schemas),
    ...(body.example === undefined ? [] : [fenced('json', JSON.stringify(body.example, null, 2))]),
  ];
}

function describeHeaders(response: Response, document: OpenApiDocument): string[] {
  const rows = Object.keys(response.headers ?? {}).map((name) => [
    `\`${name}\``,
    document.components.headers[name]?.description ?? '',
  ]);
  return ['#### Headers of the answer', table(['Header', 'Meaning'], rows)];
}

function describeErrors(responses: Record<string, Response>): string[] {
  const lines = Object.entries(responses).flatMap(([status, { content }]) =>
    Object.keys(content?.['application/json']?.examples ?? {}).map(
      (code) => `- ${status} [\`${code}\`](/docs/errors#${code})`,
    ),
  );
  return lines.length > 0 ? ['#### Errors', lines.join('\n')] : [];
}

function describeSamples(samples: readonly CodeSample[] = []): string[] {
  if (samples.length === 0) return [];
  return [
    '#### In code',
    'Each reads `BASE_URL` and `API_KEY` from the environment.',
    ...samples.map(
      ({ lang, label, source }) =>
        `<details>\n<summary>${label}</summary>\n\n${fenced(lang, source)}\n\n</details>`,
    ),
  ];
}

/** A table of all fields of an object, those of nested objects by their paths. */
function describeFields(schema: Schema, schemas: Schemas): string {
  const rows = fieldsOf(schema, schemas).map(({ name, schema: field, isRequired }) => [
    `\`${name}\``,
    `${typeOf(field, schemas)}${isRequired ? '' : ', optional'}`,
    `${field.description ?? ''}${limitsOf(field, schemas)}`,
  ]);
  return table(['Field', 'Type', 'Meaning'], rows);
}

/** One line of a table of fields. */
interface Field {
  /** Its path, such as `choices[].message.content`. */
  name: string;
  schema: Schema;
  isRequired: boolean;
}

function fieldsOf(schema: Schema, schemas: Schemas, prefix = ''): Field[] {
  const object = resolve(schema, schemas);
  return Object.entries(object.properties ?? {}).flatMap(([key, value]) => {
    const name = prefix + key;
    const field = { name, schema: value, isRequired: object.required?.includes(key) ?? false };
    const inner = innerObject(value, schemas);
    return inner ? [field, ...fieldsOf(inner.schema, schemas, `${name}${inner.suffix}.`)] : [field];
  });
}

/** The object that a field holds, be it in a list or possibly null. */
function innerObject(
  field: Schema,
  schemas: Schemas,
): { schema: Schema; suffix: string } | undefined {
  const schema = resolve(field, schemas);
  if (schema.properties) return { schema, suffix: '' };
  if (schema.items) {
    const inner = innerObject(schema.items, schemas);
    return inner && { ...inner, suffix: `[]${inner.suffix}` };
  }
  const [only, ...others] = (schema.anyOf ?? []).filter(({ type }) => type !== 'null');
  return only && others.length === 0 ? innerObject(only, schemas) : undefined;
}

/** In words: `string or null`, `array of integer`; `[]` and `{}` where they must be empty. */
function typeOf(field: Schema, schemas: Schemas): string {
  const schema = resolve(field, schemas);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.anyOf) return schema.anyOf.map((one) => typeOf(one, schemas)).join(' or ');
  if (schema.maxItems === 0) return '[]';
  if (schema.additionalProperties === false && !Object.keys(schema.properties ?? {}).length) {
    return '{}';
  }
  if (schema.items) return `array of ${typeOf(schema.items, schemas)}`;
  return [schema.type ?? 'any'].flat().join(' or ');
}

/** Which of its type's values are meant, if not all: each in a paragraph of its own. */
function limitsOf(field: Schema, schemas: Schemas): string {
  const schema = resolve(field, schemas);
  const parts = [schema, schema.items ?? {}, ...(schema.anyOf ?? [])];
  const values = parts.find((part) => part.enum)?.enum;
  const bounded = parts.find(({ maximum }) => maximum !== undefined);
  return [
    ...(values ? [`One of ${values.map((value) => `\`${value}\``).join(', ')}`] : []),
    ...(bounded ? [`${bounded.minimum ?? 0} to ${bounded.maximum}`] : []),
    ...(schema.default === undefined ? [] : [`Default ${schema.default}`]),
  ]
    .map((limit) => `\n\n${limit}`)
    .join('');
}

function resolve(schema: Schema, schemas: Schemas): Schema {
  const name = schema.$ref?.split('/').at(-1);
  return (name && schemas[name]) || schema;
}
