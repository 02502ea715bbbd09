import { describe, expect, it } from '@jest/globals';
import {
  parseAccount,
  parseErrors,
  parseEvents,
  parseInstruction,
  parseProgram,
} from '../../../programs/tools/idl/parse.ts';
import { typeForms } from '../../../programs/tools/idl/rustTypes.ts';

const HEADER = ['discriminator: [u8; 8],', 'version: u8,', 'bump: u8,'];
const account = (...fields: string[]): string =>
  ['/// A thing', '#[repr(C)]', 'pub struct Thing {', ...fields, '}'].join('\n');

const instruction = (args: string[], accounts: string[], docs = ['//! Does it.']): string =>
  [
    ...docs,
    'arguments! {',
    `pub struct Arguments {${args.length === 0 ? '}' : ''}`,
    ...(args.length === 0 ? [] : [...args, '}']),
    '}',
    'accounts! {',
    'pub struct Accounts {',
    ...accounts,
    '}',
    '}',
  ].join('\n');

describe('the parser of the Rust declarations', () => {
  it.each([
    ['no layout', 'struct Thing {}', 'no #[repr(C)] struct'],
    ['another header', account('version: u8,'), 'an account begins with discriminator, version'],
    ['a field it cannot read', account(...HEADER, 'pub(crate) x: u8,'), 'expected /^(?:pub )?'],
    ['a field without its comma', account(...HEADER, 'x: u8'), 'expected /^(?:pub )?'],
    ['no end', account(...HEADER).slice(0, -1), 'expected /^(?:pub )?'],
  ])('refuses an account with %s and reports the place', (_, text, reason) => {
    expect(() => parseAccount('thing.rs', text)).toThrow(reason);
    expect(() => parseAccount('thing.rs', text)).toThrow(/^thing\.rs:\d+: /);
  });

  it.each([
    ['without a description', instruction([], ['a: Signer,'], [])],
    ['without accounts', '//! Does it.\narguments! {\npub struct Arguments {}\n}'],
    ['without arguments', '//! Does it.\naccounts! {\npub struct Accounts {\na: Signer,\n}\n}'],
  ])('refuses an instruction %s', (_, text) => {
    expect(() => parseInstruction('do_it', 'do_it.rs', text)).toThrow(
      'an instruction has a description, arguments and accounts',
    );
  });

  it('refuses accounts that are declared twice', () => {
    const twice = `${instruction([], ['a: Signer,'])}\n${instruction([], ['a: Signer,'])}`;
    expect(() => parseInstruction('do_it', 'do_it.rs', twice)).toThrow('arguments declared twice');
  });

  it('refuses anything but parts and events among the events', () => {
    const events = 'events! {\n/// It was done\npub struct Done {\npub amount: u64,\n}\n}';
    expect(parseEvents('events.rs', events)).toMatchObject([{ name: 'Done' }]);
    expect(() => parseEvents('events.rs', `${events}\nconst X: u8 = 1;`)).toThrow(
      'events.rs:7: expected parts or events',
    );
  });

  it('puts the fields of a part, and of the parts in it, in its place', () => {
    const part = (name: string, ...fields: string[]) =>
      [`pub struct ${name}<'a>(of: &'a Thing) {`, ...fields, '}'].join('\n');
    const parts = [part('One', 'a: u8 = of.a(),'), part('Two', "one: One<'a> = One(of),")];
    const event = "pub struct Done<'a> {\npub two: Two<'a>,\npub b: u64,\n}";
    const text = `parts! {\n${parts.join('\n\n')}\n}\nevents! {\n${event}\n}`;
    const [done] = parseEvents('events.rs', text);
    expect(done?.fields.map(({ name, rustType }) => [name, rustType])).toEqual([
      ['a', 'u8'],
      ['b', 'u64'],
    ]);
  });

  it('refuses errors without a number of four digits or a message', () => {
    const errors = (...lines: string[]) =>
      parseErrors('error.rs', ['pub enum EscrowError {', ...lines, '}'].join('\n'));
    expect(errors('/// Not', '/// allowed', 'Unauthorized = 6009,')).toEqual([
      { code: 6009, name: 'Unauthorized', message: 'Not allowed' },
    ]);
    expect(() => errors('Unauthorized = 6009,')).toThrow('an error has a message');
    expect(() => errors('/// Not allowed', 'Unauthorized,')).toThrow('expected');
    expect(() => parseErrors('error.rs', 'enum Other {}')).toThrow('no enum EscrowError');
  });

  it('refuses a program without an id or a table of instructions', () => {
    const id = '    None => "11111111111111111111111111111112",\n});\n';
    const table = 'instructions! {\n    do_it,\n    undo_it,\n}\n';
    expect(parseProgram('lib.rs', id + table)).toEqual({
      address: '11111111111111111111111111111112',
      instructions: ['do_it', 'undo_it'],
    });
    for (const text of [id, table]) {
      expect(() => parseProgram('lib.rs', text)).toThrow('no program id, or no table');
    }
  });

  it.each(['u128', 'Vec<u8>', '[u16; 4]', 'Option<u8>', "&'a str"])(
    'refuses the type %s, which the IDL cannot express',
    (type) => {
      expect(() => typeForms(type)).toThrow(`no IDL type for ${type}`);
    },
  );
});
