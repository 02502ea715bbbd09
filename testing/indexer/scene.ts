import type { PublicKey } from '@solana/web3.js';
import type { LedgerTransaction } from '../../indexer/fold/event.ts';
import { listPages } from '../../indexer/source/listPages.ts';
import { connectNode } from '../../indexer/source/node.ts';
import { createLedgerSource, type LedgerSource } from '../../indexer/source/source.ts';
import type { ProfileName } from '../../localnet/profile.ts';
import { PROGRAM_ID } from '../../programs/client/index.ts';
import { addresses, createJobScene, type JobScene } from '../ledger/jobScene.ts';

export { addresses };

/** A ledger with jobs, as the indexer reads it. */
export interface Scene extends Omit<JobScene, 'lock' | 'close'> {
  source: LedgerSource;
  /** The whole history, oldest first, as the indexer reads it. */
  read(): Promise<LedgerTransaction[]>;
  lock(count?: number): Promise<PublicKey[]>;
  close(job: PublicKey): Promise<void>;
}

const TOKEN_LIMIT = 2_000;

/** @param options.profile the ledger's */
export async function createScene(options: { profile?: ProfileName } = {}): Promise<Scene> {
  const jobs = await createJobScene(options);
  const { rpcUrl } = jobs.ledger;
  const source = createLedgerSource({ node: connectNode({ url: rpcUrl }), programId: PROGRAM_ID });
  return {
    ...jobs,
    source,
    async read() {
      const read: LedgerTransaction[] = [];
      for await (const page of listPages(source, { commitment: 'confirmed', slot: 0n })) {
        const succeeded = page.filter(({ failed }) => !failed);
        read.push(...(await Promise.all(succeeded.map(source.read))));
      }
      return read;
    },
    async lock(count = 1) {
      const locked = await jobs.lock({ count, tokenLimit: TOKEN_LIMIT });
      return locked.map(({ address }) => address);
    },
    close: (job) => jobs.close([job]),
  };
}
