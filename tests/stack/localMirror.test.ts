import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { insertLedger } from '../../indexer/sql/progress.ts';
import { PROGRAM_ID } from '../../programs/client/addresses.ts';
import { checkDatabase, prepareLocalMirror } from '../../stack/mirrorDatabase.ts';
import { createMirrorDatabase, type MirrorDatabase } from '../../testing/indexer/mirrorDatabase.ts';

const [FIRST, SECOND] = ['FirstGenesisHash', 'SecondGenesisHash'];
const CLUSTER = 'ClusterGenesisHash';

let mirror: MirrorDatabase;
beforeEach(async () => {
  mirror = await createMirrorDatabase();
});
afterEach(() => mirror.close());

const prepare = (genesisHash: string) =>
  prepareLocalMirror({ databaseUrl: mirror.databaseUrl, genesisHash });

/** What an indexer does that finds the mirror free. */
async function fillFrom(genesisHash: string): Promise<void> {
  await insertLedger(mirror.pool, { genesisHash, programId: PROGRAM_ID.toBase58() });
  await mirror.pool.query(
    `insert into mirror.transactions (signature, slot, commitment) values ($1, 10, 'finalized')`,
    [genesisHash],
  );
}

async function signatures(): Promise<string[]> {
  const { rows } = await mirror.pool.query('select signature from mirror.transactions');
  return rows.map(({ signature }) => signature);
}

describe('a mirror at the start of a local ledger', () => {
  it('is emptied of the previous local ledger', async () => {
    for (const genesisHash of [FIRST, SECOND]) {
      await prepare(genesisHash);
      expect(await signatures()).toEqual([]);
      await fillFrom(genesisHash);
    }
  });

  it('is refused when a cluster filled it after a local ledger', async () => {
    await prepare(FIRST);
    await fillFrom(CLUSTER);
    await expect(prepare(SECOND)).rejects.toThrow('mirrors another ledger');
    expect(await signatures()).toEqual([CLUSTER]);
  });

  it('is refused when it belongs to a cluster, even if it is empty', async () => {
    await insertLedger(mirror.pool, { genesisHash: CLUSTER, programId: PROGRAM_ID.toBase58() });
    await expect(prepare(SECOND)).rejects.toThrow('mirrors another ledger');
  });

  it('is refused without the mark of a local ledger', async () => {
    await prepare(FIRST);
    await fillFrom(FIRST);
    await mirror.pool.query('comment on schema mirror is null');
    await expect(prepare(SECOND)).rejects.toMatchObject({
      name: 'StackError',
      message: expect.stringContaining('DATABASE_URL or SVC_DATA_DIR mirrors another ledger'),
    });
  });

  it('is refused when it was filled before mirrors stored their ledger', async () => {
    await fillFrom(CLUSTER);
    await mirror.pool.query('delete from mirror.ledger');
    await expect(prepare(SECOND)).rejects.toThrow('mirrors another ledger');
  });
});

describe('the database of DATABASE_URL', () => {
  it('is named as unreachable, without its password', async () => {
    await expect(checkDatabase('postgres://svc:secret@127.0.0.1:9/svc')).rejects.toMatchObject({
      name: 'StackError',
      message:
        'The database of DATABASE_URL cannot be used: connect ECONNREFUSED 127.0.0.1:9. Start it, ' +
        'or correct DATABASE_URL. Without it, npm start brings its own.',
    });
  });
});
