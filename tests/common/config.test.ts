import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { parseEnvironment } from '../../common/config.ts';

const schema = z.object({ SVC_GATEWAY: z.string() });

/** What a process says that does not start. */
function refusalOf(environment: NodeJS.ProcessEnv): string {
  try {
    parseEnvironment(schema, environment);
  } catch (error) {
    return (error as Error).message;
  }
  return 'it starts';
}

describe("a process's environment", () => {
  it.each([
    ['SVC_GATEWY', 'SVC_GATEWAY'],
    ['SVC_ALLOW_LOOPBAK', 'SVC_ALLOW_LOOPBACK'],
    ['WORKER_UPSTREAM_ULR', 'WORKER_UPSTREAM_URL'],
    ['WORKER_ENGIN', 'WORKER_ENGINE'],
  ])('is refused for %s, with the nearest name and without its value', (name, nearest) => {
    expect(refusalOf({ SVC_GATEWAY: 'x', [name]: 'a-secret' })).toBe(
      `The environment is not usable. ${name}: is no setting; the nearest is ${nearest}`,
    );
  });

  it('names what is missing beside what is unknown', () => {
    expect(refusalOf({ SVC_GATEWY: 'x' })).toMatch(
      /^The environment is not usable. SVC_GATEWY: is no .*; SVC_GATEWAY: Invalid input/,
    );
  });

  it('may hold settings of other processes, unknown names that are empty, and names of others', () => {
    const environment = {
      ...{ SVC_GATEWAY: 'x', SVC_CRANK_KEY: 'y', WORKER_AUTHORITY: 'z', SVC_PARENT_PID: '1' },
      ...{ SVC_GATEWY: '', JEST_WORKER_ID: '1', WORKERS: '2' },
    };
    expect(parseEnvironment(schema, environment)).toEqual({ SVC_GATEWAY: 'x' });
  });
});
