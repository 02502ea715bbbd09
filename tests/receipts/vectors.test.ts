import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { PASSED_FIELDS } from '../../common/workerProtocol.ts';
import { checkout } from '../../programs/tools/artifacts.ts';
import { createRandom } from '../../testing/random.ts';
import { PYTHON, runInPython } from './runInPython.ts';
import { formatVectors, type VectorCase, type Vectors } from './vectors/cases.ts';
import { generateVectors, unitCases } from './vectors/generate.ts';
import { resultOf } from './vectors/runCase.ts';
import { connectSnapshot, type LedgerSnapshot } from './vectors/snapshot.ts';
import { checksOf } from './vectors/verdict.ts';

const FILE = join(checkout, 'receipts/vectors.json');
const CASES_MIN = 80;
const BYTES_MAX = 2 * 1_024 * 1_024;
const JOB_CASES_DRAWN_MIN = 200;

const text = readFileSync(FILE, 'utf8');
const committed = JSON.parse(text) as Vectors;
const { seed } = createRandom();

const titleOf = ({ kind, name }: VectorCase) => `${kind}: ${name}`;
const withTitle = (one: VectorCase) => ({ title: titleOf(one), expected: one.expected });

if (!PYTHON.isReady) {
  process.stderr.write(`The Python file was not run over the vectors: ${PYTHON.reason}\n`);
}

let folder: string;
let drawn: Vectors;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-vectors-'));
  drawn = await generateVectors(seed);
}, 120_000);
afterAll(() => rm(folder, { recursive: true }));

/** Where our code says something else than a case expects. */
async function differencesIn(vectors: Vectors) {
  const judged = vectors.cases.map(async (one) => {
    const result = await resultOf(one, vectors);
    return isDeepStrictEqual(result, one.expected) ? [] : [{ ...withTitle(one), result }];
  });
  return (await Promise.all(judged)).flat();
}

/** Each case with another expectation. */
const breakAll = (cases: readonly VectorCase[]): VectorCase[] =>
  cases.map((one) => {
    if (one.kind !== 'job' || 'refused' in one.expected) {
      return { ...one, expected: { refused: false } } as never;
    }
    const result = one.expected.result === 'holds' ? 'fails' : 'holds';
    return { ...one, expected: { ...one.expected, result } };
  });

async function runFile(vectors: Vectors) {
  const path = join(folder, 'vectors.json');
  await writeFile(path, formatVectors(vectors));
  return runInPython(path);
}

describe('the committed vectors', () => {
  it('are many, each with a name of its own, in a file that can be read', () => {
    expect(committed.cases.length).toBeGreaterThanOrEqual(CASES_MIN);
    expect(new Set(committed.cases.map(titleOf)).size).toBe(committed.cases.length);
    expect(text.length).toBeLessThan(BYTES_MAX);
    expect(formatVectors(committed)).toBe(text);
  });

  it('are those of their seed', () => {
    const units = unitCases(createRandom(committed.seed));
    expect(committed.cases.slice(0, units.length)).toEqual(units);
    expect(drawn.cases.map(titleOf)).toEqual(committed.cases.map(titleOf));
  });

  it('hold by our code', async () => {
    expect(await differencesIn(committed)).toEqual([]);
  });

  it('show each verdict many times, and each check of a job failing', async () => {
    const jobs = committed.cases.filter((one) => one.kind === 'job');
    const verdicts = jobs.flatMap(({ expected }) => ('result' in expected ? [expected] : []));
    const count = (verdict: string) => verdicts.filter(({ result }) => result === verdict).length;
    for (const verdict of ['holds', 'fails', 'not_checkable']) {
      expect([verdict, count(verdict) > 10]).toEqual([verdict, true]);
    }
    const [first] = jobs;
    const node = committed.nodes[first?.node ?? ''] as LedgerSnapshot;
    const checks = await checksOf(connectSnapshot(node), first?.job ?? '');
    const failing = new Set(verdicts.flatMap(({ failing }) => failing));
    expect(checks.map(({ name }) => name).filter((name) => !failing.has(name))).toEqual([]);
  });

  it('change every field that a worker is given', () => {
    const names = new Set(committed.cases.map(({ name }) => name));
    const another = PASSED_FIELDS.map((field) => `answers: another question: another ${field}`);
    expect(another.filter((name) => !names.has(name))).toEqual([]);
  });

  it('would not hold with any other expectation', async () => {
    const broken = { ...committed, cases: breakAll(committed.cases) };
    expect(await differencesIn(broken)).toHaveLength(committed.cases.length);
  });

  (PYTHON.isReady ? it : it.skip)('hold by the Python file', async () => {
    expect(await runInPython(FILE)).toMatchObject({ code: 0 });
  });
});

describe(`vectors by another seed (seed ${seed})`, () => {
  it('have another content, and hold by our code', async () => {
    expect(drawn.cases.length).toBeGreaterThan(JOB_CASES_DRAWN_MIN);
    const isDrawn = ({ name }: VectorCase) => name === 'drawn 1';
    expect(drawn.cases.find(isDrawn)).not.toEqual(committed.cases.find(isDrawn));
    expect(await differencesIn(drawn)).toEqual([]);
  });

  (PYTHON.isReady ? it : it.skip)('hold by the Python file', async () => {
    expect(await runFile(drawn)).toMatchObject({ code: 0 });
  });
});
