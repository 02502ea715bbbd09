import { listProcesses, statOf } from '../processes.ts';

/** The resources that the processes of one part have used. */
export interface PartUse {
  readonly cpuSeconds: number;
  readonly residentBytes: number;
}

/** Beside what is measured. */
export const BARE_UPSTREAM = 'bare upstream';

/** The parts by their processes' command lines. */
const PARTS: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['ledger', /localnet\/main/],
  ['api', /api\/main/],
  ['indexer', /indexer\/main/],
  ['workers', /worker\/main/],
  ['database', /postgres|databaseMain/],
  [BARE_UPSTREAM, /bench\/upstream/],
];

/**
 * The use of each part, read from /proc for all descendants of a process, by default this one.
 *
 * @returns empty without /proc
 */
export function readParts(root = process.pid): ReadonlyMap<string, PartUse> {
  const uses = new Map<string, PartUse>();
  if (process.platform !== 'linux') return uses;
  for (const { commandLine, cpuSeconds, residentBytes } of descendants(root)) {
    const [name] = PARTS.find(([, pattern]) => pattern.test(commandLine)) ?? ['other'];
    const before = uses.get(name) ?? { cpuSeconds: 0, residentBytes: 0 };
    uses.set(name, {
      cpuSeconds: before.cpuSeconds + cpuSeconds,
      residentBytes: before.residentBytes + residentBytes,
    });
  }
  return uses;
}

/** CPU time between two readings, in seconds, by part. */
export function cpuBetween(
  before: ReadonlyMap<string, PartUse>,
  after: ReadonlyMap<string, PartUse>,
): Map<string, number> {
  return new Map(
    [...after].map(([name, { cpuSeconds }]) => [
      name,
      cpuSeconds - (before.get(name)?.cpuSeconds ?? 0),
    ]),
  );
}

interface Process extends PartUse {
  readonly id: number;
  readonly parent: number;
  readonly commandLine: string;
}

function descendants(root: number): Process[] {
  const all = listProcesses().flatMap((id): Process[] => {
    const stat = statOf(id);
    return stat ? [{ id, ...stat, cpuSeconds: stat.cpuSeconds + stat.endedCpuSeconds }] : [];
  });
  const found = new Map<number, Process>();
  const wanted = [root];
  for (let parent = wanted.pop(); parent !== undefined; parent = wanted.pop()) {
    for (const one of all) {
      if (one.parent !== parent || found.has(one.id)) continue;
      found.set(one.id, one);
      wanted.push(one.id);
    }
  }
  return [...found.values()];
}
