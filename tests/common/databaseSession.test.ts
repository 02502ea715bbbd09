import { describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import { assertOwnSessions } from '../../common/net/databaseSession.ts';

/** A database whose server processes are lent for each transaction of any client. */
function createPooler(servers: number, takes: 'last' | 'first'): pg.Pool {
  const free = Array.from({ length: servers }, (_, index) => index + 1);
  async function query() {
    const id = takes === 'last' ? free.pop() : free.shift();
    free.push(id as number);
    return { rows: [{ id }] };
  }
  return { connect: async () => ({ query, release: () => undefined }) } as unknown as pg.Pool;
}

describe('the sessions of a database', () => {
  it("are a process's own on the database itself", async () => {
    let servers = 0;
    const connect = async () => {
      const id = ++servers;
      return { query: async () => ({ rows: [{ id }] }), release: () => undefined };
    };
    await assertOwnSessions({ connect } as unknown as pg.Pool);
  });

  it.each([
    ['the last one that was free', 1, 'last'],
    ['the last one of many that was free', 4, 'last'],
    ['one after the other of few', 2, 'first'],
    ['one after the other of three', 3, 'first'],
    ['one after the other of five', 5, 'first'],
  ] as const)('are none where each transaction is lent %s', async (_which, servers, takes) => {
    await expect(assertOwnSessions(createPooler(servers, takes))).rejects.toThrow(
      'DATABASE_URL: leads to a pooler in transaction mode, which keeps no session; name the',
    );
  });
});
