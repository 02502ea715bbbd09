import { stripTypeScriptTypes } from 'node:module';
import { parseAllDocuments } from 'yaml';
import type { CodeBlock } from '../documents.ts';
import type { Fault } from './fault.ts';
import { checkAlerts, checkDelivery, checkDiagram, checkStream, checkUnit } from './formats.ts';
import { checkPython } from './python.ts';
import { checkConsole, checkShell } from './shell.ts';
import { checkTypes } from './types.ts';

/** Finds what is wrong with blocks of one language. */
type Check = (blocks: readonly CodeBlock[]) => Fault[] | Promise<Fault[]>;

/** One block at a time. @param read throws when the code is wrong */
const each =
  (read: (code: string) => void): Check =>
  (blocks) =>
    blocks.flatMap((block) => {
      try {
        read(block.text);
        return [];
      } catch (error) {
        return [{ block, problem: (error as Error).message }];
      }
    });

const parseYaml = (code: string): void => {
  for (const { errors } of parseAllDocuments(code)) if (errors[0]) throw errors[0];
};

const parseJavaScript = (code: string): void => {
  if (stripTypeScriptTypes(code) !== code) throw new Error('it has types, which are TypeScript');
};

/** What looks at the code of each language. A language without a check is a fault. */
export const CHECKS: Readonly<Record<string, Check>> = {
  ts: checkTypes,
  js: each(parseJavaScript),
  python: checkPython,
  sh: each(checkShell),
  console: each(checkConsole),
  json: each(JSON.parse),
  yaml: each(parseYaml),
  ini: each(checkUnit),
  http: each(checkDelivery),
  sse: each(checkStream),
  promql: each(checkAlerts),
  mermaid: each(checkDiagram),
};

/** Looks at each block as its language asks for. */
export async function checkBlocks(blocks: readonly CodeBlock[]): Promise<Fault[]> {
  const problemOf = (language: string): string =>
    language === ''
      ? 'name its language; what a command prints goes below it, into a console block'
      : `nothing checks the language '${language}'`;
  const faults = Object.entries(Object.groupBy(blocks, ({ language }) => language)).map(
    ([language, found = []]) =>
      CHECKS[language]?.(found) ?? found.map((block) => ({ block, problem: problemOf(language) })),
  );
  return (await Promise.all(faults)).flat();
}
