import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { EscrowErrorCode, IDL } from '../../programs/client/index.ts';
import { fieldsOf, type Type, typeText, width } from './support/idlTypes.ts';
import { type AccountRole, rolesOf } from './support/tampering.ts';

const accounts = IDL.accounts ?? [];
const events = IDL.events ?? [];
const hex = (discriminator: readonly number[]): string =>
  Buffer.from(discriminator).toString('hex');

/** `offset name type` of every field of an account, and its size. */
const layoutOf = ({ name, discriminator }: (typeof accounts)[number]): string[] => {
  let offset = 8;
  const lines = fieldsOf(name).map((field) => {
    const line = `${offset} ${field.name} ${typeText(field.type)}`;
    offset += width(field.type);
    return line;
  });
  return [`0 discriminator ${hex(discriminator)}`, ...lines, `${offset}`];
};

const seedText = ({ kind, value, path }: { kind: string; value?: number[]; path?: string }) =>
  kind === 'const' ? `"${Buffer.from(value ?? []).toString()}"` : path;

/** An account of an instruction: its name, flags, and the seeds or the address it has to have. */
const roleText = ({ name, signer, writable, optional, address, pda }: AccountRole): string =>
  [
    name,
    signer && 'signer',
    writable && 'writable',
    optional && 'optional',
    pda && `[${pda.seeds.map(seedText).join(', ')}]`,
    address,
  ]
    .filter(Boolean)
    .join(' ');

/** Were given once, and are not given again. */
const RETIRED = new Set([6_036, 6_037]);

// These are pins: what has once been written to a ledger is read for ever. A change here is a
// change of the interface, and needs a new version of the account or a new event.
describe('the bytes of the interface', () => {
  it.each(accounts)('$name keeps its layout', (account) => {
    expect(layoutOf(account)).toMatchSnapshot();
  });

  it('events keep their fields', () => {
    const pinned = events.map(({ name, discriminator }) => [
      name,
      hex(discriminator),
      ...fieldsOf(name).map((field) => `${field.name} ${typeText(field.type)}`),
    ]);
    expect(pinned).toMatchSnapshot();
  });

  it('instructions keep their discriminators, accounts and arguments', () => {
    const pinned = IDL.instructions.map(({ name, discriminator, args }) => [
      name,
      hex(discriminator),
      ...rolesOf(name).map(roleText),
      ...args.map((arg) => `${arg.name} ${typeText(arg.type as Type)}`),
    ]);
    expect(pinned).toMatchSnapshot();
  });

  it('errors keep their numbers', () => {
    expect(EscrowErrorCode).toMatchSnapshot();
    const numbers = Array.from({ length: 73 }, (_, index) => 6_000 + index);
    expect(Object.values(EscrowErrorCode)).toEqual(numbers.filter((code) => !RETIRED.has(code)));
  });

  it('are all covered by these tests', () => {
    const structs = [...accounts, ...events].map(({ name }) => name);
    const enumerations = (IDL.types ?? []).filter(({ type }) => type.kind === 'enum');
    const types = [...structs, ...enumerations.map(({ name }) => name)];
    expect(IDL.types?.map(({ name }) => name).sort()).toEqual(types.sort());
    expect(enumerations.map(({ name, type }) => [name, type])).toMatchSnapshot();
    const errors = Object.fromEntries(IDL.errors?.map(({ name, code }) => [name, code]) ?? []);
    expect(errors).toEqual(EscrowErrorCode);
    const parts = 'address metadata instructions accounts events errors types constants'.split(' ');
    expect(Object.keys(IDL).sort()).toEqual(parts.sort());
    expect(IDL.address).toMatchSnapshot();
  });

  it.each([
    ['global', IDL.instructions],
    ['account', accounts],
    ['event', events],
  ])('have the discriminators that Anchor derives from %s names', (namespace, items) => {
    for (const { name, discriminator } of items) {
      const hash = createHash('sha256').update(`${namespace}:${name}`).digest('hex');
      expect([name, hex(discriminator)]).toEqual([name, hash.slice(0, 16)]);
    }
  });
});
