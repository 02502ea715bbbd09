import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Source } from '../idl/source.ts';
import { instructionPage, type Reference } from './instructionPage.ts';
import { readInterface } from './interface.ts';
import { readSteps } from './refusals.ts';
import { readRustSource } from './rustSource.ts';
import { accountsPage, errorsPage, eventsPage, indexPage } from './sharedPages.ts';
import type { Reading } from './stepErrors.ts';

/**
 * The reference of the program.
 *
 * @param programs the folder of that name
 * @returns each page's text by its file name
 */
export const renderReference = (programs: string, declared: Source): Map<string, string> => {
  const source = readRustSource(join(programs, 'escrow/src'));
  const readings = new Map<string, Reading>(
    declared.instructions.map((instruction) => [
      instruction.name,
      {
        steps: readSteps(source, `instructions/${instruction.name}.rs`),
        roles: instruction.accounts.map(({ rustType }) => rustType),
        hasText: instruction.arguments.some(({ rustType }) => rustType.startsWith('Text')),
      },
    ]),
  );
  const reference: Reference = {
    idl: readInterface(programs),
    source,
    readings,
    computeUnits: JSON.parse(readFileSync(join(programs, 'escrow/compute-units.json'), 'utf8')),
  };
  return new Map([
    ['README.md', indexPage(reference)],
    ['accounts.md', accountsPage(reference)],
    ['events.md', eventsPage(reference)],
    ['errors.md', errorsPage(reference)],
    ...reference.idl.instructions.map(
      (instruction) => [`${instruction.name}.md`, instructionPage(reference, instruction)] as const,
    ),
  ]);
};
