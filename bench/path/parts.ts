import { readdirSync, readFileSync } from 'node:fs';

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
/** Linux counts time in hundredths of a second, and memory in pages. */
const TICKS_PER_SECOND = 100;
const PAGE_BYTES = 4_096;

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
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => readProcess(Number(name)) ?? []);
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

/** Parses the fields of proc(5) after the name, which may contain any character. */
function readProcess(id: number): Process | undefined {
  try {
    const stat = readFileSync(`/proc/${id}/stat`, 'utf8');
    const fields = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    return {
      id,
      parent: fields[1] ?? 0,
      // Its own time, and that of its ended children.
      cpuSeconds: sum(fields.slice(11, 15)) / TICKS_PER_SECOND,
      residentBytes: (fields[21] ?? 0) * PAGE_BYTES,
      commandLine: readFileSync(`/proc/${id}/cmdline`, 'utf8').replaceAll('\0', ' '),
    };
  } catch {
    // The process has just ended.
    return undefined;
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
