import { expect, it } from '@jest/globals';
import { startIndexer } from '../../testing/indexer/indexerProcess.ts';
import { createMirrorDatabase } from '../../testing/indexer/mirrorDatabase.ts';
import type { TestLedger } from '../../testing/ledger/ledger.ts';

/** No ledger is there: the indexer says where it is before it asks. */
const NOWHERE = {
  rpcUrl: 'http://127.0.0.1:9',
  wsUrl: 'ws://127.0.0.1:9',
  fundLamports: async () => {},
} as unknown as TestLedger;

it('an indexer on an IPv6 address reports a URL that reaches it', async () => {
  const mirror = await createMirrorDatabase();
  const indexer = await startIndexer(NOWHERE, mirror.databaseUrl, { INDEXER_HOST: '::1' });
  try {
    expect(indexer.url).toMatch(/^http:\/\/\[::1\]:\d+$/);
    expect((await fetch(new URL('/health', indexer.url))).status).toBe(200);
  } finally {
    await indexer.terminate();
    await mirror.close();
  }
});
