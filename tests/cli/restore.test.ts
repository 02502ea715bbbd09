import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import { createKey } from '../../api/account/keys.ts';
import { createPool } from '../../common/postgres.ts';
import { PROGRAM_ID } from '../../programs/client/addresses.ts';
import { runCli } from '../../testing/cli.ts';
import { createTestDatabase, execute, type TestDatabase } from '../../testing/database/database.ts';
import { startLedger, type TestLedger } from '../../testing/ledger/ledger.ts';
import { ownFolder } from '../../testing/ownFolder.ts';

const folder = ownFolder('restore');
let empty: TestDatabase;
let ledger: TestLedger;
let other: TestLedger;
const pathOf = (name: string) => join(folder, name);

beforeAll(async () => {
  [ledger, other] = await Promise.all([startLedger(), startLedger()]);
  const [{ databaseUrl, close }, target] = await Promise.all([
    createTestDatabase(),
    createTestDatabase({ isEmpty: true }),
  ]);
  empty = target;
  const pool = createPool({ databaseUrl, applicationName: 'test' });
  await createKey(pool, Keypair.generate().publicKey.toBase58());
  await svc('backup', [pathOf('unbound')], { DATABASE_URL: databaseUrl });
  await pool.query('insert into mirror.ledger (genesis_hash, program_id) values ($1, $2)', [
    await ledger.connection.getGenesisHash(),
    PROGRAM_ID.toBase58(),
  ]);
  await svc('backup', [pathOf('bound')], { DATABASE_URL: databaseUrl });
  await pool.end();
  await close();
});

afterAll(async () => {
  await Promise.all([empty.close(), ledger.close(), other.close()]);
});

/** @returns its exit code, and what it says */
async function svc(verb: string, args: string[], env: Record<string, string>) {
  const { code, output, error } = await runCli([verb, ...args], { env, cwd: folder });
  return { code, said: `${output}${error}`.trim() };
}

const restore = (args: string[], environment: Record<string, string> = {}) =>
  svc('restore', args, { DATABASE_URL: empty.databaseUrl, ...environment });

/** Whether anything was written, and then takes that away again. */
async function wasFilled(): Promise<boolean> {
  const pool = createPool({ databaseUrl: empty.databaseUrl, applicationName: 'test', max: 1 });
  const { rows } = await pool.query(
    "select from pg_namespace where nspname in ('service', 'mirror')",
  );
  await pool.end();
  await execute(empty.databaseUrl, 'drop schema if exists service, mirror cascade');
  return rows.length > 0;
}

describe('svc restore', () => {
  it("fills the database when the node has the backup's ledger", async () => {
    const words = [pathOf('bound'), '--rpc', ledger.rpcUrl];
    expect(await restore(words, { SOLANA_RPC_URL: other.rpcUrl })).toMatchObject({ code: 0 });
    expect(await wasFilled()).toBe(true);
  });

  it('refuses the backup of another ledger or program, and writes nothing', async () => {
    const genesisHash = await ledger.connection.getGenesisHash();
    const otherProgram = Keypair.generate().publicKey.toBase58();
    const asked = [
      {
        rpcUrl: other.rpcUrl,
        genesisHash: await other.connection.getGenesisHash(),
        programId: PROGRAM_ID.toBase58(),
      },
      { rpcUrl: ledger.rpcUrl, genesisHash, programId: otherProgram },
    ];
    for (const { rpcUrl, ...named } of asked) {
      const settings = { SOLANA_RPC_URL: rpcUrl, SVC_PROGRAM_ID: named.programId };
      expect(await restore([pathOf('bound')], settings)).toEqual({
        code: 1,
        said:
          `${pathOf('bound')} is a backup of program ${PROGRAM_ID} on the ledger with genesis hash ` +
          `${genesisHash}, but the settings name program ${named.programId} on the ledger with ` +
          `genesis hash ${named.genesisHash}.`,
      });
      expect(await wasFilled()).toBe(false);
    }
  });

  it.each<[string, string, string | undefined, string]>([
    ['no node is named', 'bound', undefined, 'No ledger: set SOLANA_RPC_URL'],
    ['the node is away', 'bound', 'http://127.0.0.1:9', 'To restore without asking a node:'],
    ['the backup names no ledger', 'unbound', 'running', 'names no ledger to compare:'],
  ])('when %s, writes only with --offline', async (_case, file, rpcUrl, sentence) => {
    const address = rpcUrl === 'running' ? ledger.rpcUrl : rpcUrl;
    const settings: Record<string, string> = address ? { SOLANA_RPC_URL: address } : {};
    const { code, said } = await restore([pathOf(file)], settings);
    expect([code, said.split('\n')]).toEqual([1, [expect.stringContaining(sentence)]]);
    expect(said).toContain('--offline');
    expect(await wasFilled()).toBe(false);
    expect(await restore([pathOf(file), '--offline'], settings)).toMatchObject({ code: 0 });
    expect(await wasFilled()).toBe(true);
  });
});
