import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import { createPool, inTransaction } from '../../common/postgres.ts';
import { createTestDatabase, type TestDatabase } from '../../testing/database/database.ts';
import { type DatabaseGate, startDatabaseGate } from '../../testing/database/databaseGate.ts';

let database: TestDatabase;
let gate: DatabaseGate;
let pool: pg.Pool;

beforeAll(async () => {
  database = await createTestDatabase();
  gate = await startDatabaseGate(database.databaseUrl);
  pool = createPool({ databaseUrl: gate.databaseUrl, applicationName: 'test', max: 1 });
  await pool.query('create table kept (value int)');
});

afterAll(async () => {
  await pool.end();
  await gate.close();
  await database.close();
});

describe('a database transaction', () => {
  it('fails alone when its connection is lost between two statements', async () => {
    const lost = inTransaction(pool, async (client) => {
      await client.query('insert into kept values (1)');
      await gate.shut();
      // An error without a listener would end the process by now.
      await new Promise((resolve) => setTimeout(resolve, 50));
      await client.query('insert into kept values (2)');
    });
    await expect(lost).rejects.toThrow();

    await gate.open();
    await inTransaction(pool, (client) => client.query('insert into kept values (3)'));
    const { rows } = await pool.query('select value from kept');
    expect(rows).toEqual([{ value: 3 }]);
  });

  it('closes its connection to the wrong server when it turns out read-only', async () => {
    const keep = () => inTransaction(pool, (client) => client.query('insert into kept values (4)'));
    await pool.query('set default_transaction_read_only = on');
    await expect(keep()).rejects.toMatchObject({ code: '25006' });
    expect(await keep()).toMatchObject({ rowCount: 1 });
  });

  it('leaves no listener on its connection', async () => {
    const listeners = () => inTransaction(pool, async (client) => client.listenerCount('error'));
    const first = await listeners();
    for (let time = 0; time < 20; time += 1) await listeners();
    expect(await listeners()).toBe(first);
  });
});

describe('a database connection', () => {
  it('closes no other when it closes while it opens', async () => {
    const message = (type: string, ...parts: (string | Buffer)[]) => {
      const body = Buffer.concat(parts.map((part) => Buffer.from(part as string)));
      const length = Buffer.alloc(4);
      length.writeInt32BE(body.length + length.length);
      return Buffer.concat([Buffer.from(type), length, body]);
    };
    const authenticated = message('R', Buffer.alloc(4));
    const ready = message('Z', 'I');
    const ended = message('E', 'SFATAL\0C57P01\0Mterminating connection\0\0');
    const server = createServer((socket) => {
      socket.once('data', () => socket.end(Buffer.concat([authenticated, ready, ended])));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const databaseUrl = `postgres://user@127.0.0.1:${port}/name`;
    const ending = createPool({ databaseUrl, applicationName: 'test', max: 1 });

    const client = await ending.connect();
    await expect(client.query('select 1')).rejects.toThrow();
    client.release(true);
    await ending.end();
    server.close();
  });
});
