import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { selectNewestFinal } from '../../indexer/sql/progress.ts';
import { createMirrorDatabase, type MirrorDatabase } from '../../testing/indexer/mirrorDatabase.ts';

const FINAL = 20_000;
let mirror: MirrorDatabase;

beforeAll(async () => {
  mirror = await createMirrorDatabase();
  await mirror.pool.query(
    `insert into transactions (signature, slot, commitment)
     select 'signature ' || slot, slot, case when slot <= $1 then 'finalized' else 'confirmed' end
     from generate_series(1, $1 + 10) as slot`,
    [FINAL],
  );
  await mirror.pool.query('analyze transactions');
});

afterAll(() => mirror.close());

describe('the newest final transaction', () => {
  it('is found among all transactions and among those before a slot', async () => {
    const newest = { signature: `signature ${FINAL}`, slot: BigInt(FINAL) };
    expect(await selectNewestFinal(mirror.pool, undefined)).toEqual(newest);
    expect(await selectNewestFinal(mirror.pool, 5n)).toEqual({
      signature: 'signature 4',
      slot: 4n,
    });
    expect(await selectNewestFinal(mirror.pool, 1n)).toBeUndefined();
  });

  it.each([
    ['all', undefined],
    ['those before an old slot', 5n],
  ])('is found through the index alone, among %s', async (_, before) => {
    const client = await mirror.pool.connect();
    const plans: string[] = [];
    const query = client.query.bind(client) as (...given: unknown[]) => Promise<{ rows: object[] }>;
    const explained = {
      query: async ({ text, values }: { text: string; values: unknown[] }) => {
        const { rows } = await query(`explain (analyze, format json) ${text}`, values);
        plans.push(JSON.stringify(rows));
        return { rows: [] };
      },
    };
    await selectNewestFinal(explained as unknown as typeof client, before);
    client.release();

    expect(plans.join()).toContain('transactions_finalized_idx');
    expect(plans.join()).not.toMatch(/Rows Removed by (Filter|Index Recheck)":[1-9]/);
  });
});
