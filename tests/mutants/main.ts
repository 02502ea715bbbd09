import { parseArgs, styleText } from 'node:util';
import { createRandom } from '../../testing/random.ts';
import { readSource } from '../tidy/sourceTree.ts';
import { applyMutation, type Mutation, mutationsOf } from './operators.ts';
import { TARGETS, type Target } from './targets.ts';
import { createWorkspace, type Workspace } from './workspace.ts';

// `npm run test:mutants -- --count 200 --seed 7`: changes what decides about money, one place at a
// time, and shows which changes no test notices. `--skip` and `--take` run a part of the same list.
// `--file common/db.ts --tests common/db,api/lock` takes one file of any part, before its tests change.

/** One change of one file, with the tests that should notice it. */
interface Mutant {
  number: number;
  area: string;
  file: string;
  source: string;
  mutation: Mutation;
  tests: readonly string[];
}

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '200' },
    seed: { type: 'string' },
    skip: { type: 'string', default: '0' },
    take: { type: 'string' },
    area: { type: 'string' },
    file: { type: 'string' },
    tests: { type: 'string' },
    lanes: { type: 'string', default: '2' },
  },
});
const random = createRandom(values.seed === undefined ? undefined : Number(values.seed));

/** The areas that are asked for, or the one file. */
function targets(): readonly Target[] {
  const { area, file, tests } = values;
  if (file !== undefined && tests !== undefined) {
    return [{ area: 'named', files: [file], tests: tests.split(',') }];
  }
  return TARGETS.filter((target) => area === undefined || target.area === area);
}

/** As many of each area as it has share in the rounds, so that large files do not crowd out small ones. */
function drawMutants(count: number): Mutant[] {
  const pools = targets().map(candidatesOf);
  const mutants: Mutant[] = [];
  while (mutants.length < count && pools.some((pool) => pool.length > 0)) {
    for (const pool of pools) {
      const [drawn] = pool.splice(random.below(pool.length), 1);
      if (drawn && mutants.length < count) mutants.push({ ...drawn, number: mutants.length + 1 });
    }
  }
  return mutants;
}

function candidatesOf({ area, files, tests }: Target): Omit<Mutant, 'number'>[] {
  return files.flatMap((file) => {
    const source = readSource(file);
    return mutationsOf(source).map((mutation) => ({ area, file, source, mutation, tests }));
  });
}

/** Test files that take longer have come to a standstill. */
const TIMEOUT_MS = 300_000;
/** So many test files run alone; the rest share the cost of a start. */
const ALONE = 2;

/** Test files pass without any change, or their failures would say nothing. */
const sound = new Map<string, Promise<boolean>>();

async function requireSound(tests: readonly string[], workspace: Workspace): Promise<void> {
  const name = tests.join(' ');
  const twice = async () =>
    // A busy machine makes some of them late; a run of hours need not end by that.
    (await workspace.passes(tests, TIMEOUT_MS)) || (await workspace.passes(tests, TIMEOUT_MS));
  const passing = sound.get(name) ?? twice();
  sound.set(name, passing);
  if (!(await passing)) throw new Error(`${name} fails without any change`);
}

/** @returns what noticed the change */
async function judge(mutant: Mutant, workspace: Workspace): Promise<string | undefined> {
  const { file, source, mutation, tests } = mutant;
  workspace.write(file, applyMutation(source, mutation));
  const groups = [...tests.slice(0, ALONE).map((test) => [test]), tests.slice(ALONE)];
  let killer: readonly string[] | undefined;
  for (const group of groups) {
    if (killer || group.length === 0) break;
    if (!(await workspace.passes(group, TIMEOUT_MS))) killer = group;
  }
  const compiles = killer !== undefined || (await workspace.compiles());
  workspace.write(file, source);
  if (killer) await requireSound(killer, workspace);
  if (!compiles) return 'types';
  return killer?.join(' ');
}

function describe({ number, area, file, source, mutation }: Mutant): string {
  const line = source.slice(0, mutation.start).split('\n').length;
  return `${number} ${area} ${file}:${line} ${mutation.operator}`;
}

function diff({ source, mutation }: Mutant): string {
  const first = source.lastIndexOf('\n', mutation.start - 1) + 1;
  const end = source.indexOf('\n', mutation.end);
  const before = source.slice(first, end);
  const after = applyMutation(source, mutation).slice(
    first,
    end + mutation.replacement.length - (mutation.end - mutation.start),
  );
  const mark = (sign: string, text: string) => text.split('\n').map((line) => `  ${sign} ${line}`);
  return [...mark('-', before), ...mark('+', after)].join('\n');
}

const print = (text: string): void => void process.stdout.write(`${text}\n`);

const skip = Number(values.skip);
const all = drawMutants(Number(values.count));
const chosen = all.slice(skip, values.take === undefined ? undefined : skip + Number(values.take));
print(`seed ${random.seed}, ${chosen.length} of ${all.length} mutants`);

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
const workspaces = Array.from({ length: Number(values.lanes) }, createWorkspace);
const close = (): void => {
  for (const workspace of workspaces) workspace.close();
};
process.once('exit', close);
const survivors: Mutant[] = [];
const counts = new Map<string, number>();
try {
  const waiting = [...chosen];
  await Promise.all(
    workspaces.map(async (workspace) => {
      for (let mutant = waiting.shift(); mutant; mutant = waiting.shift()) {
        const killer = await judge(mutant, workspace);
        counts.set(killer ?? 'survived', (counts.get(killer ?? 'survived') ?? 0) + 1);
        print(
          `${killer ? 'killed' : styleText('red', 'SURVIVED')} ${describe(mutant)} ${killer ?? ''}`,
        );
        if (killer) continue;
        survivors.push(mutant);
        print(diff(mutant));
      }
    }),
  );
} finally {
  close();
}
for (const [killer, count] of counts) print(`${String(count).padStart(4)}  ${killer}`);
print(`${chosen.length - survivors.length} of ${chosen.length} killed, seed ${random.seed}`);
