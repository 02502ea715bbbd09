import { camelCase } from '../../client/values.ts';
import { checksNotes, checksTable, commonMeanings, constantsNote, errorsTable } from './checks.ts';
import { findWords } from './glossary.ts';
import {
  type Account,
  docsOf,
  fieldsOf,
  hex,
  type Instruction,
  type Interface,
  seedsText,
  typeText,
  unitOf,
  widthOf,
} from './interface.ts';
import { anchor, code, GENERATED, grouped, list, table } from './markdown.ts';
import { rangeOf } from './ranges.ts';
import type { RustSource } from './rustSource.ts';
import type { Reading } from './stepErrors.ts';

/** What a page is made of, for every instruction. */
export interface Reference {
  idl: Interface;
  source: RustSource;
  readings: ReadonlyMap<string, Reading>;
  computeUnits: Readonly<Record<string, number>>;
}

const accountText = (account: Account, kinds: ReadonlyMap<string, string>): string => {
  const kind = kinds.get(account.name);
  const seeds = seedsText(account);
  return [
    docsOf(account),
    kind === undefined ? '' : `a [${kind}](accounts.md${anchor(kind)})`,
    seeds === '' ? '' : `at ${code(`[${seeds}]`)}`,
    account.address === undefined ? '' : code(account.address),
    account.optional ? "the program's own address stands for none" : '',
  ]
    .filter((part) => part !== '')
    .join('; ');
};

const accountsTable = ({ accounts }: Instruction, { steps }: Reading): string => {
  const kinds = new Map(
    steps.flatMap((step) =>
      step.kind === 'load' ? [[step.account.replace('accounts.', ''), step.type] as const] : [],
    ),
  );
  const rows = accounts.map((account, index) => [
    `${index}`,
    code(account.name),
    account.signer ? 'signs' : '',
    account.writable ? 'writable' : '',
    account.optional ? 'optional' : '',
    accountText(account, kinds),
  ]);
  return table(['', 'account', 'signer', 'writable', 'optional', 'which'], rows);
};

const argumentsTable = ({ args }: Instruction, source: RustSource, reading: Reading): string =>
  table(
    ['argument', 'type', 'bytes', 'unit', 'range', ''],
    args.map((argument) => [
      code(argument.name),
      code(typeText(argument.type)),
      `${widthOf(argument.type) ?? 'varies'}`,
      unitOf(argument.name),
      rangeOf(source, argument.name, reading),
      docsOf(argument),
    ]),
  );

const eventSection = (idl: Interface, name: string): string =>
  `[${code(name)}](events.md${anchor(name)}), with ${fieldsOf(idl, name)
    .map((field) => code(field.name))
    .join(', ')}.\n`;

/** The event that a handler emits. */
export const eventOf = (source: RustSource, name: string): string => {
  const text = source.text(`instructions/${name}.rs`);
  const event = /\bemit\([\s\S]*?&([A-Z]\w+) \{/.exec(text)?.[1];
  if (event === undefined) throw new Error(`${name} emits no event`);
  return event;
};

/** The reference page of one instruction. */
export const instructionPage = (reference: Reference, instruction: Instruction): string => {
  const { idl, source, readings, computeUnits } = reference;
  const { name } = instruction;
  const reading = readings.get(name);
  const units = computeUnits[name];
  if (reading === undefined || units === undefined) throw new Error(`${name} was not measured`);
  const path = `programs/escrow/src/instructions/${name}.rs`;
  const words = [
    ...[...commonMeanings(reading)].map(([word, meaning]) => `${code(word)}: ${code(meaning)}`),
    ...findWords(source, `instructions/${name}.rs`, reading.steps).map(({ call, docs, gives }) =>
      [`${code(call)}:`, docs, gives && code(gives)].filter(Boolean).join(' '),
    ),
  ];
  return [
    `${GENERATED}# ${name}\n\n${docsOf(instruction)}\n\n`,
    table(
      ['', ''],
      [
        ['source', `[${path}](../../${path})`],
        ['client', code(`${camelCase(name)}({ … })`)],
        ['discriminator', code(hex(instruction.discriminator))],
        ['compute units', grouped(units)],
      ],
    ),
    `\n## Accounts\n\n${accountsTable(instruction, reading)}`,
    '\n## Arguments\n\n',
    instruction.args.length === 0 ? 'None.\n' : argumentsTable(instruction, source, reading),
    `\n## Checks, in order\n\n${checksTable(reading)}\n`,
    checksNotes(reading),
    constantsNote(source, reading),
    words.length === 0 ? '' : `${list(words)}\n`,
    `## Errors\n\n${errorsTable(idl, reading)}`,
    `\n## Event\n\n${eventSection(idl, eventOf(source, name))}`,
  ].join('');
};
