import { camelCase } from '../../client/interface.ts';
import type { AccountField, Instruction } from './parse.ts';
import { isFixed } from './renderIdl.ts';
import { HEADER, renderDocs } from './renderTypeScript.ts';
import { typeForms } from './rustTypes.ts';
import type { Source } from './source.ts';

/** What addresses are derived from, where the instruction itself does not carry it. */
const ORIGINS: Readonly<Record<string, { type: string; doc: string }>> = {
  wallet: { type: 'PublicKey', doc: 'Owns the credit account' },
  model_id: { type: 'string', doc: 'The id of the model in the catalog' },
};

const IMPORTS = [
  ['type { PublicKey, TransactionInstruction }', '@solana/web3.js'],
  ['{ createAddresses }', '../addresses.ts'],
  ['{ buildInstruction, type Deployment }', '../buildInstruction.ts'],
  ['type { DisputeOutcome, FailureReason, Tier }', './vocabulary.ts'],
];

const pascalCase = (name: string): string => camelCase(`_${name}`);

const summaryOf = ({ docs }: Instruction): string =>
  docs.slice(0, docs.indexOf('') < 0 ? docs.length : docs.indexOf('')).join(' ');

const isDerived = (account: AccountField): boolean => account.seeds !== undefined;

const renderInput = (source: Source, instruction: Instruction): string => {
  const asked = instruction.accounts.filter(
    (account) => !isFixed(source, account) && !isDerived(account),
  );
  const present = new Set([...asked, ...instruction.arguments].map(({ name }) => name));
  const derived = new Set(instruction.accounts.filter(isDerived).map(({ name }) => name));
  const origins = instruction.accounts
    .flatMap(({ seeds = [] }) => seeds.slice(1))
    .filter((name) => !present.has(name) && !derived.has(name));
  const lines = [
    ...asked.map(({ name, rustType, docs }) => {
      const type = rustType === 'Optional' ? '?: PublicKey | undefined' : ': PublicKey';
      return `${renderDocs(docs, '  ')}  readonly ${camelCase(name)}${type};\n`;
    }),
    ...[...new Set(origins)].map((name) => {
      const origin = ORIGINS[name];
      if (origin === undefined) throw new Error(`${instruction.name}: unknown seed ${name}`);
      return `  /** ${origin.doc} */\n  readonly ${camelCase(name)}: ${origin.type};\n`;
    }),
    ...instruction.arguments.map(
      ({ name, rustType, docs }) =>
        `${renderDocs(docs, '  ')}  readonly ${camelCase(name)}: ${typeForms(rustType).typescript};\n`,
    ),
  ];
  return `export interface ${pascalCase(instruction.name)}Input extends Deployment {\n${lines.join('')}}\n`;
};

const renderBuilder = (instruction: Instruction): string => {
  const name = camelCase(instruction.name);
  const derived = instruction.accounts.filter(isDerived);
  const isLocal = (seed: string): boolean => derived.some((account) => account.name === seed);
  const addresses = derived.map(({ name: account, seeds: [kind = '', ...seeds] = [] }) => {
    const from = seeds.map((seed) => `${isLocal(seed) ? '' : 'input.'}${camelCase(seed)}`);
    const method = camelCase(kind.toLowerCase());
    return `  const ${camelCase(account)} = addresses.${method}(${from.join(', ')});\n`;
  });
  const setup =
    derived.length === 0 ? '' : '  const addresses = createAddresses(input.programId);\n';
  const fields = ['...input', ...derived.map((account) => camelCase(account.name))].join(', ');
  const given = derived.length === 0 ? 'input' : `{ ${fields} }`;
  return (
    `${renderDocs([summaryOf(instruction)])}export function ${name}(` +
    `input: ${pascalCase(instruction.name)}Input): TransactionInstruction {\n${setup}` +
    `${addresses.join('')}  return buildInstruction('${instruction.name}', ${given});\n}\n`
  );
};

/** A builder for every instruction. Addresses that follow from others are filled in. */
export const renderInstructions = (source: Source): string =>
  [
    HEADER,
    IMPORTS.map(([names, module]) => `import ${names} from '${module}';\n`).join(''),
    ...source.instructions.flatMap((instruction) => [
      renderInput(source, instruction),
      renderBuilder(instruction),
    ]),
  ].join('\n');
