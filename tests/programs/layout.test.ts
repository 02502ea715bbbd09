import { describe, expect, it } from '@jest/globals';
import { EscrowErrorCode, IDL } from '../../programs/client/index.ts';
import { fieldsOf, type Type, typeText, width } from './support/idlTypes.ts';

/** `offset name type` of every field of an account, and its size. */
const layoutOf = (name: string): string[] => {
  let offset = 8;
  const lines = fieldsOf(name).map((field) => {
    const line = `${offset} ${field.name} ${typeText(field.type)}`;
    offset += width(field.type);
    return line;
  });
  return [...lines, `${offset}`];
};

// These are pins: what has once been written to a ledger is read for ever. A change here is a
// change of the interface, and needs a new version of the account or a new event.
describe('the bytes of the interface', () => {
  it.each((IDL.accounts ?? []).map(({ name }) => name))('%s keeps its layout', (name) => {
    expect(layoutOf(name)).toMatchSnapshot();
  });

  it('events keep their fields', () => {
    const events = (IDL.events ?? []).map(({ name, discriminator }) => [
      name,
      Buffer.from(discriminator).toString('hex'),
      ...fieldsOf(name).map((field) => `${field.name} ${typeText(field.type)}`),
    ]);
    expect(events).toMatchSnapshot();
  });

  it('instructions keep their discriminators, accounts and arguments', () => {
    const instructions = IDL.instructions.map(({ name, discriminator, accounts, args }) => [
      name,
      Buffer.from(discriminator).toString('hex'),
      ...accounts.map((account) => account.name),
      ...args.map((arg) => `${arg.name} ${typeText(arg.type as Type)}`),
    ]);
    expect(instructions).toMatchSnapshot();
  });

  it('errors keep their numbers', () => {
    expect(EscrowErrorCode).toMatchSnapshot();
    expect(Object.values(EscrowErrorCode)).toEqual(
      Array.from({ length: 70 }, (_, index) => 6_000 + index),
    );
  });
});
