import { camelCase, snakeCase } from '../../client/interface.ts';
import type { Enumeration, Field, Struct } from './parse.ts';
import { completeEvents } from './renderIdl.ts';
import { typeForms } from './rustTypes.ts';
import type { Source } from './source.ts';

export const HEADER = '// Generated from the Rust source by programs/tools/idl.ts: do not edit.\n';

export const renderDocs = (docs: readonly string[], indent = ''): string =>
  docs.length === 0 ? '' : `${indent}/** ${docs.join(' ')} */\n`;

const renderInterface = ({ name, docs, fields }: Struct): string => {
  const lines = fields.map((field) => `${renderDocs(field.docs, '  ')}  ${renderField(field)};\n`);
  return `${renderDocs(docs)}export interface ${name} {\n${lines.join('')}}\n`;
};

const renderField = ({ name, rustType }: Field): string =>
  `${camelCase(name)}: ${typeForms(rustType).typescript}`;

const renderUnion = (names: readonly string[], render: (name: string) => string): string =>
  names.map((name) => `\n  | ${render(name)}`).join('');

/** TypeScript interfaces of every account and event. */
export const renderTypes = (source: Source): string => {
  const events = completeEvents(source.events);
  return [
    HEADER,
    `import type { PublicKey } from '@solana/web3.js';\nimport type {\n${source.enumerations
      .map(({ name }) => `  ${name},\n`)
      .toSorted()
      .join('')}} from './vocabulary.ts';\n`,
    ...source.accounts.map(renderInterface),
    ...events.map(renderInterface),
    `/** Every event, with its name. */\nexport type EscrowEvent =${renderUnion(
      events.map(({ name }) => name),
      (name) => `{ name: '${name}'; data: ${name} }`,
    )};\n`,
    `export type EscrowErrorName =${renderUnion(
      source.errors.map(({ name }) => name),
      (name) => `'${name}'`,
    )};\n`,
  ].join('\n');
};

/** `JobStatus` → `JOB_STATUSES` */
const listName = (name: string): string =>
  `${snakeCase(name).toUpperCase()}${name.endsWith('s') ? 'ES' : 'S'}`;

const renderEnumeration = ({ name, docs, variants }: Enumeration): string => {
  const words = variants.map(
    (variant) => `${renderDocs(variant.docs, '  ')}  '${snakeCase(variant.name)}',\n`,
  );
  return (
    `${renderDocs(docs)}export const ${listName(name)} = [\n${words.join('')}] as const;\n\n` +
    `export type ${name} = (typeof ${listName(name)})[number];\n`
  );
};

/** The words of every enumeration, in the order of their numbers. */
export const renderVocabulary = (source: Source): string =>
  [HEADER, ...source.enumerations.map(renderEnumeration)].join('\n');

const renderValue = (value: bigint | string, rustType: string): string => {
  if (typeof value === 'string') return `'${value}'`;
  const digits = String(value).replace(/\B(?=(\d{3})+$)/g, '_');
  return rustType.endsWith('64') ? `${digits}n` : digits;
};

/** The constants of limits.rs, and the seeds of addresses. */
export const renderConstants = ({ constants, seeds }: Source): string =>
  [
    HEADER,
    ...constants.map(
      ({ name, docs, rustType, value }) =>
        `${renderDocs(docs)}export const ${name} = ${renderValue(value, rustType)};\n`,
    ),
    `/** What each address is derived from, before keys and ids. */\nexport const SEEDS = {\n${[
      ...seeds.text,
    ]
      .map(([name, text]) => `  ${camelCase(name.toLowerCase())}: '${text}',\n`)
      .join('')}} as const;\n`,
  ].join('\n');
