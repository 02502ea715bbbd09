import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  parseAccount,
  parseConstants,
  parseEnumerations,
  parseErrors,
  parseEvents,
  parseInstruction,
  parseProgram,
  parseSeeds,
  parseShared,
} from './parse.ts';

/** Everything the program declares, read from its source folder. */
export const readSource = (folder: string) => {
  const read = (path: string): string => readFileSync(join(folder, path), 'utf8');
  const filesOf = (name: string): string[] =>
    readdirSync(join(folder, name), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.rs') && file !== 'mod.rs')
      .sort()
      .map((file) => join(name, file));

  const program = parseProgram('lib.rs', read('lib.rs'));
  const files = readdirSync(join(folder, 'instructions')).map((file) => file.replace(/\.rs$/, ''));
  const unlisted = files.filter((name) => !program.instructions.includes(name));
  if (unlisted.length > 0) throw new Error(`not in the table of lib.rs: ${unlisted.join(', ')}`);

  const state = filesOf('state').map((path) => ({ path, text: read(path) }));
  const settlement = { path: 'settlement.rs', text: read('settlement.rs') };
  const shared = [...state, settlement].flatMap(({ path, text }) => parseShared(path, text));
  return {
    address: program.address,
    instructions: program.instructions.map((name) => {
      const path = `instructions/${name}.rs`;
      return parseInstruction(name, path, read(path), shared);
    }),
    accounts: state
      .filter(({ text }) => text.includes('#[repr(C)]'))
      .map(({ path, text }) => parseAccount(path, text)),
    enumerations: state.flatMap(({ path, text }) => parseEnumerations(path, text)),
    events: parseEvents('events.rs', read('events.rs')),
    errors: parseErrors('error.rs', read('error.rs')),
    constants: parseConstants('limits.rs', read('limits.rs')),
    seeds: parseSeeds(read('seeds.rs')),
  };
};

export type Source = ReturnType<typeof readSource>;
