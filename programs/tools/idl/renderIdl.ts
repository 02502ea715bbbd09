import { createHash } from 'node:crypto';
import type { AccountField, Constant, Enumeration, Field, Instruction, Struct } from './parse.ts';
import { typeForms } from './rustTypes.ts';
import type { Source } from './source.ts';

/** Anchor's discriminator: the first 8 bytes of the sha256 of `<namespace>:<name>`. */
const discriminator = (namespace: string, name: string): number[] => [
  ...createHash('sha256').update(`${namespace}:${name}`).digest().subarray(0, 8),
];

/** The flags of an account by its role, and its address where it can only be one. */
const roles: Record<string, { writable?: true; signer?: true; optional?: true; address?: string }> =
  {
    Readonly: {},
    Writable: { writable: true },
    Signer: { signer: true },
    WritableSigner: { writable: true, signer: true },
    Optional: { optional: true },
    VaultAuthority: {},
    EventAuthority: {},
    EscrowProgram: {},
    SystemProgram: { address: '11111111111111111111111111111111' },
    TokenProgram: { address: 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA' },
  };

const withDocs = (docs: string[]): object => (docs.length === 0 ? {} : { docs });

/** Slot and time stand at the head of every event and are written by the emitter. */
const eventHead: Field[] = [
  { name: 'slot', rustType: 'u64', docs: [] },
  { name: 'unix_time', rustType: 'i64', docs: ['Seconds since 1970, of the ledger'] },
];

/** Every event with the fields that all events begin with. */
export const completeEvents = (events: Struct[]): Struct[] =>
  events.map((event) => ({ ...event, fields: [...eventHead, ...event.fields] }));

const idlField = ({ name, rustType, docs }: Field): object => ({
  name,
  ...withDocs(docs),
  type: typeForms(rustType).idl,
});

const idlType = ({ name, docs, fields }: Struct): object => ({
  name,
  ...withDocs(docs),
  type: { kind: 'struct', fields: fields.map(idlField) },
});

const idlEnumeration = ({ name, docs, variants }: Enumeration): object => ({
  name,
  ...withDocs(docs),
  type: { kind: 'enum', variants: variants.map((variant) => ({ name: variant.name })) },
});

const idlConstant = ({ name, docs, rustType, value }: Constant): object => ({
  name,
  ...withDocs(docs),
  type: typeof value === 'string' ? 'string' : rustType,
  value: typeof value === 'string' ? JSON.stringify(value) : String(value),
});

/** Whether the account can be only one: of a known program, or at an address of one fixed seed. */
export const isFixed = (source: Source, { name, rustType }: AccountField): boolean =>
  rustType === 'EscrowProgram' ||
  roles[rustType]?.address !== undefined ||
  source.seeds.fixed.has(name);

/** The address in the IDL's terms; none where a seed is not the instruction's, or is hashed. */
const idlPda = (source: Source, instruction: Instruction, account: AccountField) => {
  const own = account.name.toUpperCase();
  const names = source.seeds.fixed.has(account.name) ? [own] : account.seeds;
  if (names === undefined || names[0] === 'MODEL') return {};
  const seeds = names.map((name) => {
    const text = source.seeds.text.get(name);
    if (text !== undefined) return { kind: 'const', value: [...Buffer.from(text)] };
    if (instruction.accounts.some((other) => other.name === name)) {
      return { kind: 'account', path: name };
    }
    if (instruction.arguments.some((argument) => argument.name === name)) {
      return { kind: 'arg', path: name };
    }
    return undefined;
  });
  return seeds.includes(undefined) ? {} : { pda: { seeds } };
};

const idlAccount = (source: Source, instruction: Instruction, account: AccountField): object => {
  const role = roles[account.rustType];
  if (role === undefined) throw new Error(`${instruction.name}: role ${account.rustType}`);
  const { address = account.rustType === 'EscrowProgram' ? source.address : undefined, ...flags } =
    role;
  return {
    name: account.name,
    ...withDocs(account.docs),
    ...flags,
    ...(address === undefined ? idlPda(source, instruction, account) : { address }),
  };
};

/** The IDL, by Anchor's specification 0.1.0. */
export const renderIdl = (source: Source, version: string): string => {
  const events = completeEvents(source.events);
  const idl = {
    address: source.address,
    metadata: {
      name: 'escrow',
      version,
      spec: '0.1.0',
      description: 'Holds prepaid credits and the state of every inference job',
    },
    instructions: source.instructions.map((instruction) => ({
      name: instruction.name,
      docs: instruction.docs,
      discriminator: discriminator('global', instruction.name),
      accounts: instruction.accounts.map((account) => idlAccount(source, instruction, account)),
      args: instruction.arguments.map(idlField),
    })),
    accounts: source.accounts.map(({ name }) => ({
      name,
      discriminator: discriminator('account', name),
    })),
    events: events.map(({ name }) => ({ name, discriminator: discriminator('event', name) })),
    errors: source.errors.map(({ code, name, message }) => ({ code, name, msg: message })),
    types: [
      ...[...source.accounts, ...events].map(idlType),
      ...source.enumerations.map(idlEnumeration),
    ],
    constants: source.constants.map(idlConstant),
  };
  return `${JSON.stringify(idl, null, 2)}\n`;
};
