import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { insertLedger } from '../../indexer/sql/progress.ts';
import { PROGRAM_ID } from '../../programs/client/addresses.ts';
import { prepareLocalMirror } from '../../stack/mirrorDatabase.ts';
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

  it.each<[string, string, () => Promise<unknown>]>([
    ['a cluster filled it after a local ledger', CLUSTER, async () => undefined],
    [
      'it lacks the mark of a local ledger',
      FIRST,
      () => mirror.pool.query('comment on schema mirror is null'),
    ],
    [
      'it was filled before mirrors stored their ledger',
      CLUSTER,
      () => mirror.pool.query('delete from service.ledger'),
    ],
  ])('is refused when %s', async (_case, filledFrom, change) => {
    await prepare(FIRST);
    await fillFrom(filledFrom);
    await change();
    await expect(prepare(SECOND)).rejects.toMatchObject({
      name: 'StackError',
      message: expect.stringContaining('DATABASE_URL or SVC_DATA_DIR mirrors another ledger'),
    });
    expect(await signatures()).toEqual([filledFrom]);
  });

  it('is refused when it belongs to a cluster, even if it is empty', async () => {
    await insertLedger(mirror.pool, { genesisHash: CLUSTER, programId: PROGRAM_ID.toBase58() });
    await expect(prepare(SECOND)).rejects.toThrow('mirrors another ledger');
  });
});
