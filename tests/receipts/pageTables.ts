import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PublicKey } from '@solana/web3.js';
import { createAddresses } from '../../programs/client/addresses.ts';
import { ACCOUNT_KINDS, IDL, PROGRAM_EVENTS, wordsOf } from '../../programs/client/codec.ts';
import type { Field, FieldType } from '../../programs/client/interface.ts';
import { bytesToHex } from '../../programs/client/platform/bytes.ts';
import { READ } from '../../programs/client/verify/answer/names.ts';
import {
  REQUEST_FIELDS,
  RESPONSES_FIELDS,
} from '../../programs/client/verify/answer/requestFields.ts';
import { NOT_PROVEN } from '../../programs/client/verify/check.ts';
import { verifyJob } from '../../programs/client/verify/job/verifyJob.ts';
import { checkout } from '../../programs/tools/artifacts.ts';

/** The kinds of account that a verification reads. */
const ACCOUNTS = ['Job', 'Worker', 'Config', 'Model'];
/** The instructions whose arguments it reads. */
const INSTRUCTIONS = [
  ...['job_lock', 'job_acknowledge', 'job_prove', 'job_settle', 'job_complete', 'job_fail'],
  ...['job_dispute', 'dispute_resolve'],
];
/** The events of other accounts than the job that a verification reads. */
const OTHER_EVENTS = [
  ...['CreditOpened', 'CreditBought', 'CreditWithdrawn', 'SpenderSet', 'LimitSet', 'ClaimPaid'],
  ...['WorkerRegistered', 'WorkerUpdated', 'ModelUpserted', 'ModelRetired'],
];
const COLUMNS = 100;

const isRead = (name: string): boolean =>
  OTHER_EVENTS.includes(name) || structFields(name).some((field) => field.name === 'job');

/** The names of all rules, in their order. */
export function ruleNames(): string[] {
  const worker = { records: [], hasGaps: false, account: undefined };
  const nothing = { transactions: [], unread: [], creditEvents: [], worker };
  const { checks } = verifyJob({
    ...{ addresses: createAddresses(), job: PublicKey.default, account: { kind: 'none' } },
    ...{ slot: 0n, now: 0n, ...nothing },
  });
  return checks.map(({ name }) => name);
}

/** The lists of `docs/receipt.md`, each a block of JSON, from the published interface and the rules. */
export function pageTables(): string[] {
  const kinds = [...PROGRAM_EVENTS, ...ACCOUNT_KINDS];
  const discriminatorOf = (name: string): string =>
    bytesToHex(kinds.find((kind) => kind.name === name)?.discriminator ?? new Uint8Array());
  const struct = (name: string) => [name, discriminatorOf(name), structFields(name)] as const;
  const call = (name: string) => {
    const found = IDL.instructions.find((each) => each.name === name);
    const bytes = Uint8Array.from(found?.discriminator ?? []);
    return [name, bytesToHex(bytes), argumentsOf(name)] as const;
  };
  const events = IDL.events.map(({ name }) => name);
  const words = IDL.types.flatMap(({ name, type }) =>
    type.kind === 'enum' ? [[name, listed(wordsOf(name))] as const] : [],
  );
  return [
    block(events.filter(isRead).map((name) => layout(struct(name)))),
    block(events.filter((name) => !isRead(name)).map((name) => layout(struct(name)))),
    block(ACCOUNTS.map((name) => layout(struct(name)))),
    block(INSTRUCTIONS.map((name) => layout(call(name)))),
    block(words),
    listed(ruleNames()),
    fieldLists(REQUEST_FIELDS),
    fieldLists(RESPONSES_FIELDS),
    listed(NOT_PROVEN),
    listed([...READ]),
  ];
}

const fieldLists = (lists: object): string =>
  block(
    Object.entries(lists).map(([list, named]) => [
      list,
      list === 'off' ? JSON.stringify(named) : listed(named as readonly string[]),
    ]),
  );

/** Of each event the fields of the page that only a node says: always, and without an account. */
export function saidByNodes(): Record<string, [always: string, closed: string]> {
  const page = readFileSync(join(checkout, 'docs/receipt.md'), 'utf8');
  const section = page.split('\n### What only a node says\n')[1]?.split('\n#')[0] ?? '';
  const [table = ''] = section.split('\n| event | possible in');
  const rows = [...table.matchAll(/^\| `(\w+)` \| (.*?) ?\| (.*?) ?\|$/gm)];
  return Object.fromEntries(
    rows.map(([, event = '', ...cells]) => {
      const [always = '', closed = ''] = cells.map((cell) => cell.replaceAll('`', ''));
      return [event, [always, closed]];
    }),
  );
}

const layout = ([name, discriminator, fields]: readonly [string, string, readonly Field[]]) =>
  [
    name,
    listed([discriminator, ...fields.map((field) => `${field.name}:${typeName(field.type)}`)]),
  ] as const;

const block = (entries: readonly (readonly [string, string])[]): string =>
  `{\n${entries.map(([name, text]) => `"${name}": ${text}`).join(',\n')}\n}`;

/** A JSON list on lines of bounded length. */
function listed(words: readonly string[]): string {
  const lines = [''];
  for (const [at, word] of words.entries()) {
    const text = `"${word}"${at < words.length - 1 ? ',' : ''}`;
    const line = lines.at(-1) ?? '';
    if (line.length + text.length >= COLUMNS) lines.push(text);
    else lines[lines.length - 1] = line === '' ? text : `${line} ${text}`;
  }
  return `[\n  ${lines.join('\n  ')}]`;
}

function structFields(name: string): readonly Field[] {
  const found = IDL.types.find((each) => each.name === name)?.type;
  if (found?.kind !== 'struct') throw new Error(`There is no struct ${name}`);
  return found.fields;
}

function argumentsOf(name: string): readonly Field[] {
  const found = IDL.instructions.find((each) => each.name === name);
  if (!found) throw new Error(`There is no instruction ${name}`);
  return found.args;
}

/** A type in one word: `bytes32` for 32 bytes, `keys8` for eight keys, `keys` for a list of them. */
function typeName(type: FieldType): string {
  if (typeof type === 'string') return type;
  if ('defined' in type) return type.defined.name;
  if ('vec' in type) return 'keys';
  const [inner, length] = type.array;
  return `${inner === 'u8' ? 'bytes' : 'keys'}${length}`;
}
