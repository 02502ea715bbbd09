import { describe, expect, it } from '@jest/globals';
import { createLogger } from '../../common/logger.ts';
import { closingOnFailure, createShutdown } from '../../common/shutdown.ts';

/** A shutdown, and parts that record what happens to them. */
function createScene() {
  const happened: string[] = [];
  const logger = createLogger({ name: 'test', level: 'silent' });
  const shutdown = createShutdown({ logger, timeoutMs: 1_000 });
  const open = (name: string, start = async () => {}) =>
    shutdown.open(name, {
      start() {
        happened.push(`start ${name}`);
        return start();
      },
      close: () => void happened.push(`close ${name}`),
    });
  return { happened, shutdown, open };
}

describe('the parts of a process', () => {
  it('close in the reverse of the order in which they were opened', async () => {
    const { happened, shutdown, open } = createScene();
    const start = async () => {
      await open('database');
      await open('server');
      return 'running';
    };
    expect(await closingOnFailure(shutdown, start)).toBe('running');
    expect(happened).toEqual(['start database', 'start server']);
    expect(await shutdown.run()).toBe(true);
    expect(happened.slice(2)).toEqual(['close server', 'close database']);
  });

  it('close when a later one fails to start, and so does that one', async () => {
    const { happened, shutdown, open } = createScene();
    const start = async () => {
      await open('database');
      await open('ledger', () => Promise.reject(new Error('no node')));
      await open('server');
    };
    await expect(closingOnFailure(shutdown, start)).rejects.toThrow('no node');
    expect(happened).toEqual([
      ...['start database', 'start ledger', 'close ledger', 'close database'],
    ]);
  });
});
