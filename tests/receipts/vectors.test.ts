import { describe, expect, it } from '@jest/globals';
import { PASSED_FIELDS } from '../../common/workerProtocol.ts';
import {
  REQUEST_FIELDS,
  RESPONSES_FIELDS,
} from '../../programs/client/verify/answer/requestFields.ts';
import { createRandom } from '../../testing/random.ts';
import { ruleNames } from './pageTables.ts';
import { formatVectors } from './vectors/cases.ts';
import { COMMITTED, JOB_CASES, TEXT } from './vectors/committed.ts';
import { unitCases } from './vectors/generate.ts';
import { differencesIn, titleOf } from './vectors/runCase.ts';

const CASES_MIN = 80;
const BYTES_MAX = 2 * 1_024 * 1_024;

describe('the committed vectors', () => {
  it('are many, each with a name of its own, in a file that can be read', () => {
    expect(COMMITTED.cases.length).toBeGreaterThanOrEqual(CASES_MIN);
    expect(new Set(COMMITTED.cases.map(titleOf)).size).toBe(COMMITTED.cases.length);
    expect(TEXT.length).toBeLessThan(BYTES_MAX);
    expect(formatVectors(COMMITTED)).toBe(TEXT);
  });

  it('are those of their seed', () => {
    const units = unitCases(createRandom(COMMITTED.seed));
    expect(COMMITTED.cases.slice(0, units.length)).toEqual(units);
  });

  it('hold by our code', async () => {
    expect(await differencesIn(COMMITTED)).toEqual([]);
  });

  it('show each verdict many times, and each check of a job failing', () => {
    const verdicts = JOB_CASES.flatMap(({ expected }) => ('result' in expected ? [expected] : []));
    const count = (verdict: string) => verdicts.filter(({ result }) => result === verdict).length;
    for (const verdict of ['holds', 'fails', 'not_checkable']) {
      expect([verdict, count(verdict) > 10]).toEqual([verdict, true]);
    }
    const failing = new Set(verdicts.flatMap(({ failing }) => failing));
    expect(ruleNames().filter((name) => !failing.has(name))).toEqual([]);
  });

  it('have the one list of what becomes of each field of a request', () => {
    expect(COMMITTED.request_fields).toEqual(REQUEST_FIELDS);
    expect(COMMITTED.responses_fields).toEqual(RESPONSES_FIELDS);
    const { nullable, emptyable } = REQUEST_FIELDS;
    const given = ['stop', 'response_format', ...nullable, ...emptyable];
    expect(given.toSorted()).toEqual([...PASSED_FIELDS].sort());
  });

  it('change every field that a worker is given', () => {
    const names = new Set(COMMITTED.cases.map(({ name }) => name));
    const another = PASSED_FIELDS.map((field) => `answers: another question: another ${field}`);
    expect(another.filter((name) => !names.has(name))).toEqual([]);
  });
});
