import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { connectionOf } from '../../common/database/connection.ts';
import { databaseUrlFault } from '../../common/net/urls.ts';
import { createPool } from '../../common/postgres.ts';
import { refusalOf } from '../../common/transientErrors.ts';
import { MACHINE_ENVIRONMENT, PROJECT_FOLDER } from '../../testing/childProcess.ts';
import { createTestDatabase, type TestDatabase } from '../../testing/database/database.ts';
import { ownFolder } from '../../testing/ownFolder.ts';
import { createSelfSigned } from '../api/selfSigned.ts';
import { startTlsDatabase } from './tlsDatabase.ts';

let database: TestDatabase;
let tls: Awaited<ReturnType<typeof startTlsDatabase>>;
const folder = ownFolder('database-tls');
const file = (name: string) => join(folder, name);

beforeAll(async () => {
  const own = createSelfSigned();
  // Its authority is itself.
  writeFileSync(file('own.pem'), own.certificate);
  writeFileSync(file('other.pem'), createSelfSigned().certificate);
  writeFileSync(file('prose.pem'), 'no certificate');
  database = await createTestDatabase();
  tls = await startTlsDatabase(database.databaseUrl, own);
});

afterAll(async () => {
  await tls.close();
  await database.close();
});

/** The address of the database with this query; `file:<name>` is a file of this test. */
function addressWith(query: string, { base = tls.databaseUrl, host = '127.0.0.1' } = {}): string {
  const url = new URL(base);
  url.hostname = host;
  url.search = query.replace(/file:([\w.-]+)/g, (_all, name: string) => file(name));
  return url.href;
}

/** @returns what the database answers, or why it is not asked */
async function ask(databaseUrl: string): Promise<unknown> {
  const pool = createPool({ databaseUrl, applicationName: 'test', max: 1 });
  try {
    const { rows } = await pool.query('select 1 as one');
    return rows[0]?.one;
  } catch (error) {
    return refusalOf(error) ?? error;
  } finally {
    await pool.end();
  }
}

describe('a database with a certificate of its own authority', () => {
  it.each([
    'sslmode=require',
    'sslmode=prefer',
    'sslmode=allow',
    'sslmode=no-verify',
    'ssl=no-verify',
    'uselibpqcompat=true&sslmode=require',
    'sslmode=require&sslrootcert=file:own.pem',
    'sslmode=verify-ca&sslrootcert=file:own.pem',
    'sslmode=verify-full&sslrootcert=file:own.pem',
    // It compares no name.
    'sslmode=verify-ca&sslrootcert=file:own.pem at localhost',
  ])('is reached by %s', async (asked) => {
    const [query = '', host] = asked.split(' at ');
    expect(await ask(addressWith(query, host ? { host } : {}))).toBe(1);
  });

  const UNKNOWN = /self.signed certificate.*: sslrootcert=<file> names its authority's certificate/;
  it.each([
    ['sslmode=verify-full', '127.0.0.1', UNKNOWN],
    ['ssl=true', '127.0.0.1', UNKNOWN],
    ['sslmode=require&sslrootcert=system', '127.0.0.1', UNKNOWN],
    ['sslmode=require&sslrootcert=file:other.pem', '127.0.0.1', UNKNOWN],
    ['sslmode=verify-ca&sslrootcert=file:other.pem', '127.0.0.1', UNKNOWN],
    [
      'sslmode=verify-full&sslrootcert=file:own.pem',
      'localhost',
      /altnames.*: sslmode=verify-ca compares no name$/,
    ],
  ])('is refused by %s at %s, with what helps', async (query, host, words) => {
    expect(await ask(addressWith(query, { host }))).toMatch(words);
  });

  it('is asked for without a word of the driver', async () => {
    const env = { ...MACHINE_ENVIRONMENT, DATABASE_URL: addressWith('sslmode=require') };
    const { stdout, stderr } = await promisify(execFile)(
      process.execPath,
      [join(PROJECT_FOLDER, 'cli/main.ts'), 'migrate', '--check'],
      { env },
    );
    expect([stderr, stdout]).toEqual(['', expect.stringMatching(/^\d+ migrations applied, 0 to/)]);
  });
});

describe('a database without TLS', () => {
  it('is refused where TLS is asked for, with what helps', async () => {
    const address = addressWith('sslmode=require', { base: database.databaseUrl });
    const answer = await ask(address.replace('127.0.0.1', new URL(database.databaseUrl).hostname));
    expect(answer).toBe(
      'The server does not support SSL connections: sslmode=disable connects without TLS',
    );
  });
});

describe('what the address says of TLS', () => {
  const plain = 'postgres://user:p%23w@db.example.com:5433/svc?application_name=x';

  it('leaves the rest as it is, and nothing of it to the driver', () => {
    const { connectionString, ssl } = connectionOf(`${plain}&sslmode=require`, {});
    expect(connectionString).toBe(plain);
    expect(ssl).toEqual({ rejectUnauthorized: false });
    expect(connectionOf(plain, {})).toEqual({ connectionString: plain, ssl: false });
  });

  it('is completed by the environment, and goes before it', () => {
    const environment = { PGSSLMODE: 'verify-full', PGSSLROOTCERT: file('own.pem') };
    expect(connectionOf(plain, environment).ssl).toEqual({ ca: expect.stringContaining('BEGIN') });
    expect(connectionOf(`${plain}&sslmode=disable`, environment).ssl).toBe(false);
  });

  it('may ask for TLS from the first byte on', () => {
    const direct = connectionOf(`${plain}&sslmode=require&sslnegotiation=direct`, {});
    expect(direct).toMatchObject({ connectionString: plain, sslnegotiation: 'direct' });
  });

  it.each([
    ['sslmode=strict', 'sslmode must be one of disable, allow, prefer, require,'],
    ['sslmode=verify-ca', 'sslmode=verify-ca needs sslrootcert=<file>'],
    ['sslmode=verify-full&sslrootcert=file:none.pem', /^sslrootcert: cannot read \S+ \(ENOENT\)$/],
    ['sslmode=verify-full&sslrootcert=file:prose.pem', 'must be PEM files'],
    ['sslmode=require&sslcert=file:own.pem&sslkey=file:prose.pem', 'must be PEM files'],
    ['sslnegotiation=direct', 'sslnegotiation=direct needs sslmode=require or stronger'],
  ])('is refused as a setting where it cannot be: %s', (query, words) => {
    expect(databaseUrlFault(addressWith(query))).toMatch(words);
  });
});
