import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  parseAccount,
  parseErrors,
  parseEvents,
  parseInstruction,
  parseProgram,
  parseSeeds,
} from './parse.ts';

/** Everything the program declares, read from its source folder. */
export const readSource = (folder: string) => {
  const read = (path: string): string => readFileSync(join(folder, path), 'utf8');
  const filesOf = (name: string): string[] =>
    readdirSync(join(folder, name))
      .filter((file) => file.endsWith('.rs') && file !== 'mod.rs')
      .sort();

  const program = parseProgram('lib.rs', read('lib.rs'));
  const files = filesOf('instructions').map((file) => file.replace(/\.rs$/, ''));
  const unlisted = files.filter((name) => !program.instructions.includes(name));
  if (unlisted.length > 0) throw new Error(`not in the table of lib.rs: ${unlisted.join(', ')}`);

  return {
    address: program.address,
    instructions: program.instructions.map((name) => {
      const path = `instructions/${name}.rs`;
      return parseInstruction(name, path, read(path));
    }),
    accounts: filesOf('state').map((file) => parseAccount(file, read(`state/${file}`))),
    events: parseEvents('events.rs', read('events.rs')),
    errors: parseErrors('error.rs', read('error.rs')),
    seeds: parseSeeds(read('seeds.rs')),
  };
};

export type Source = ReturnType<typeof readSource>;
