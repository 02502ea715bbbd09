import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { TOOLS, type ToolName } from '../../testing/machine/tools.ts';
import { importsOf, listFiles, ROOT, readSource } from '../tidy/sourceTree.ts';

const WANTS = /\bneeds\(\s*((?:'[^']+'[,\s]*)+)\)/g;
/** Files of one folder, from so many on, are named together. */
const TOGETHER_MIN = 5;

/** The test files that want each tool, by `needs` of their own or of what they import from the tests. */
export function testsByTool(): Map<ToolName, string[]> {
  const names = Object.keys(TOOLS) as ToolName[];
  const found = new Map(names.map((name) => [name, [] as string[]]));
  for (const path of listFiles().filter((each) => /^tests\/.*\.test\.ts$/.test(each))) {
    for (const name of wantedBy(path)) found.get(name)?.push(path);
  }
  return found;
}

function wantedBy(path: string, seen = new Set<string>()): Set<ToolName> {
  const wanted = new Set<ToolName>();
  if (seen.has(path) || !/^test(s|ing)\//.test(path) || !existsSync(join(ROOT, path)))
    return wanted;
  seen.add(path);
  const source = readSource(path);
  for (const [, list = ''] of source.matchAll(WANTS)) {
    for (const [, name] of list.matchAll(/'([^']+)'/g)) wanted.add(name as ToolName);
  }
  for (const { path: imported } of importsOf(path, source)) {
    for (const name of wantedBy(imported, seen)) wanted.add(name);
  }
  return wanted;
}

/** The rows of the table in docs/developing.md. */
export function toolRows(): string[] {
  return [...testsByTool()]
    .filter(([, tests]) => tests.length > 0)
    .map(([name, tests]) => `| ${name} | ${namesOf(tests).join(', ')} |`);
}

function namesOf(tests: readonly string[]): string[] {
  const byFolder = Object.groupBy(tests, (test) => dirname(test));
  return Object.entries(byFolder).flatMap(([folder, files = []]) =>
    files.length < TOGETHER_MIN
      ? files.map((file) => `\`${file.replace(/^tests\/|\.test\.ts$/g, '')}\``)
      : `\`${folder.replace('tests/', '')}/\``,
  );
}
