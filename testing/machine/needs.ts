import { describe, it } from '@jest/globals';
import { addProgram } from './programFolder.ts';
import { findTool, type ToolName } from './tools.ts';

/** Jest's functions for tests that want something of the machine. */
interface Wanting {
  /** What this machine lacks of it. */
  readonly missing: readonly ToolName[];
  readonly isMet: boolean;
  readonly it: typeof it;
  readonly describe: typeof describe;
}

/** What the report of a run counts, see notCheckedReporter.mjs. */
const markOf = (missing: readonly ToolName[]): string =>
  ` (NOT CHECKED: wants ${missing.join(', ')})`;

/**
 * What a test file asks of the machine beyond Node, npm, git, bash and the POSIX tools. Its tests may
 * start the programs of these tools. Where one is missing they are skipped, by name and reason. They
 * fail where the run has promised the tool by `TESTS_REQUIRE`, a list of names.
 */
export function needs(...names: readonly ToolName[]): Wanting {
  const missing = names.filter((name) => findTool(name) === undefined);
  for (const name of names) {
    for (const [program, path] of findTool(name) ?? []) addProgram(program, path);
  }
  if (missing.length === 0) return { missing, isMet: true, it, describe };
  const promised = (process.env.TESTS_REQUIRE ?? '').split(',');
  const broken = missing.filter((name) => promised.includes(name));
  if (broken.length > 0) return { missing, isMet: false, ...failing(broken) };
  const mark = markOf(missing);
  return {
    missing,
    isMet: false,
    it: marked(it.skip, mark),
    describe: marked(describe.skip, mark),
  };
}

type Titled = (title: string, ...rest: unknown[]) => unknown;

/** The same function, and its `each`, with a mark behind every title. */
function marked<Kind>(skip: unknown, mark: string): Kind {
  const { each } = skip as { each: (...table: unknown[]) => Titled };
  const mark_ =
    (call: Titled): Titled =>
    (title, ...rest) =>
      call(`${title}${mark}`, ...rest);
  return Object.assign(mark_(skip as Titled), {
    each: (...table: unknown[]) => mark_(each(...table)),
  }) as Kind;
}

function failing(broken: readonly ToolName[]): Pick<Wanting, 'it' | 'describe'> {
  const fail: Titled = (title) =>
    it(title, () => {
      throw new Error(`This run promised ${broken.join(', ')}, and this machine has none.`);
    });
  const kind = Object.assign(fail, { each: () => fail });
  return { it: kind as unknown as typeof it, describe: kind as unknown as typeof describe };
}
