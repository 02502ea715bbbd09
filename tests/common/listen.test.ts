import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type pg from 'pg';
import { listen } from '../../common/listen.ts';
import { openPooledDatabase, type PooledDatabase } from '../../testing/database/pooledDatabase.ts';

let database: PooledDatabase;
let pool: pg.Pool;

beforeAll(async () => {
  database = await openPooledDatabase({ isEmpty: true });
  pool = database.pool;
});

afterAll(() => database?.close());

describe('listening to notifications', () => {
  it('ends when it is aborted while its connection opens', async () => {
    const opened = Promise.withResolvers<void>();
    const connect = pool.connect.bind(pool);
    jest.spyOn(pool, 'connect').mockImplementation(async () => {
      await opened.promise;
      return connect();
    });
    const ending = new AbortController();
    const listened = jest.fn();
    const listening = listen({
      ...{ pool, channel: 'anything', signal: ending.signal },
      ...{ onNotification: () => undefined, onListening: listened, onLost: () => undefined },
    });
    ending.abort();
    opened.resolve();
    await listening;
    expect(listened).not.toHaveBeenCalled();
  });
});
