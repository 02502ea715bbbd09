import { readFileSync, writeFileSync } from 'node:fs';
import { z } from 'zod';
import * as values from '../common/contracts/values.ts';
import { envelope, webhookKinds } from '../webhooks/kinds.ts';

// Makes the receivers' types, the web app's labels and the guide's table from webhooks/kinds.ts.
// With --check it writes nothing, and fails where a file differs.

const HEAD = '// Made from webhooks/kinds.ts by npm run generate: do not edit.';

const described = Object.entries(webhookKinds).map(([name, { meaning, choice, data }]) => ({
  name,
  meaning,
  choice: choice === undefined ? '' : ` ${choice}`,
  fields: fieldsOf(data),
}));

/** What each field of an event is called, its type and what it says. */
function fieldsOf(schema: z.ZodObject): [name: string, field: Field][] {
  return Object.entries((z.toJSONSchema(schema) as Field).properties ?? {});
}

/** As much of JSON Schema as events use. */
interface Field {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly items?: Field;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Field>>;
}

/** The text of webhooks/generated/events.ts. */
function renderTypes(): string {
  const names = described.map(({ name }) => `  '${name}',\n`);
  const types = described.map(
    ({ name, meaning, choice, fields }) =>
      `  /** ${meaning}${choice} */\n  '${name}': {\n${fields.map(renderField).join('')}  };\n`,
  );
  return `${HEAD}

/** Everything that a webhook can subscribe to. */
export const WEBHOOK_KINDS = [
${names.join('')}] as const;

export type EventKind = (typeof WEBHOOK_KINDS)[number];

/**
 * The \`data\` of each kind of event. Credits and tokens are integers. \`usdc_value\` is in stablecoin
 * units. \`…_tx\` and \`tx\` are signatures of ledger transactions. Hashes are \`sha256:\` and 64 hex
 * digits. \`…_at\` are ISO 8601 UTC. \`credits_remaining\` is the balance right after the event.
 */
export interface EventData {
${types.join('')}}

/** A delivered event of one kind. */
export interface EventEnvelope<Kind extends EventKind> {
${fieldsOf(envelope).map(renderEnvelopeField).join('')}}
`;
}

/** The text of webhooks/generated/labels.ts, which the package for receivers does not contain. */
function renderLabels(): string {
  const labels = described.map(({ name, meaning }) => `  '${name}': ${JSON.stringify(meaning)},\n`);
  return `${HEAD}

import type { EventKind } from './events.ts';

/** What has happened when an event of a kind is sent. */
export const KIND_LABELS: Readonly<Record<EventKind, string>> = {
${labels.join('')}};
`;
}

/** What all fields of a form share is said once, above them. */
const SAID_ONCE = new Set(Object.values(values).map(({ description }) => description));

function renderField([name, field]: readonly [string, Field]): string {
  const isSaid = SAID_ONCE.has(field.description) || name === 'credits_remaining';
  return renderLines('    ', name, typeOf(field), isSaid ? undefined : field.description);
}

/** The kind of an event decides two fields of its envelope. */
const renderEnvelopeField = ([name, field]: readonly [string, Field]): string =>
  renderLines(
    '  ',
    isOptional(name) ? `${name}?` : name,
    OF_KIND.get(name) ?? typeOf(field),
    field.description,
  );

const isOptional = (name: string): boolean =>
  envelope.shape[name as keyof typeof envelope.shape].safeParse(undefined).success;

const OF_KIND = new Map([
  ['test', 'true'],
  ['event', 'Kind'],
  ['data', 'EventData[Kind]'],
]);

function renderLines(indent: string, name: string, type: string, meaning?: string): string {
  const comment = meaning === undefined ? '' : `${indent}/** ${meaning} */\n`;
  return `${comment}${indent}${name}: ${type};\n`;
}

function typeOf({ type, enum: values, items }: Field): string {
  if (values) return values.map((value) => `'${value}'`).join(' | ');
  if (type === 'array' && items) return `${typeOf(items)}[]`;
  if (type === 'integer') return 'number';
  if (type === 'string' || type === 'number' || type === 'boolean') return type;
  throw new Error(`bin/webhookEvents.ts has no type for a field of the type ${type}`);
}

const TABLE = /\| event \| .*\n(\|.*\n)+/;

/** The guide with the table of the kinds. */
function renderGuide(guide: string): string {
  const rows = described.map(({ name, meaning, choice, fields }) => {
    const data = fields.map(([field]) => `\`${field}\``).join(', ');
    return `| \`${name}\` | ${meaning}${choice} | ${data} |\n`;
  });
  const table = `| event | what happened | \`data\` |\n|---|---|---|\n${rows.join('')}`;
  return guide.replace(TABLE, () => table);
}

const read = (path: string): string => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');
const files = {
  'webhooks/generated/events.ts': renderTypes(),
  'webhooks/generated/labels.ts': renderLabels(),
  'docs/webhooks.md': renderGuide(read('docs/webhooks.md')),
};
for (const [path, text] of Object.entries(files)) {
  if (!process.argv.includes('--check'))
    writeFileSync(new URL(`../${path}`, import.meta.url), text);
  else if (read(path) !== text) {
    throw new Error(`${path} differs from webhooks/kinds.ts: run npm run generate`);
  }
}
