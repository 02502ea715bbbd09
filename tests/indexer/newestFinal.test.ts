import { beforeAll, describe, expect, it } from '@jest/globals';
import { selectNewestFinal } from '../../indexer/sql/progress.ts';
import { ownMirror } from '../../testing/indexer/own.ts';

const FINAL = 20_000;
const mirror = await ownMirror();

beforeAll(async () => {
  await mirror.pool.query(
    `insert into transactions (signature, slot, commitment)
     select 'signature ' || slot, slot, case when slot <= $1 then 'finalized' else 'confirmed' end
     from generate_series(1, $1 + 10) as slot`,
    [FINAL],
  );
  await mirror.pool.query('analyze transactions');
});

describe('the newest final transaction', () => {
  it('is found through the index alone', async () => {
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
    for (const before of [undefined, 5n]) {
      await selectNewestFinal(explained as unknown as typeof client, before);
    }
    client.release();

    for (const plan of plans) expect(plan).toContain('transactions_finalized_idx');
    expect(plans.join()).not.toMatch(/Rows Removed by (Filter|Index Recheck)":[1-9]/);
  });
});
