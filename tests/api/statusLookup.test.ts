import { describe, expect, it } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import type { LedgerContext } from '../../api/ledger/context.ts';
import { createStatusLookup } from '../../api/ledger/jobLookup.ts';
import type { Database } from '../../common/postgres.ts';
import { systemTime } from '../../common/wait.ts';
import { createAddresses } from '../../programs/client/addresses.ts';
import { createJobId, formatJobId } from '../../programs/client/jobId.ts';

// What the ledger's own tests cannot bring about at will: what is left of a job that is not there.

const addresses = createAddresses();
const wallet = Keypair.generate().publicKey;
const creditAccount = addresses.creditAccount(wallet);
const jobId = formatJobId(createJobId({ nowMs: 1_800_000_000_000, creditAccount }).bytes);

/** @param traces how each transaction of the job's address ended */
function lookUp(traces: { err: object | null }[], mirrored?: string) {
  const rows = mirrored === undefined ? [] : [{ status: mirrored }];
  return createStatusLookup({
    database: { query: async () => ({ rows }) } as unknown as Database,
    context: {
      addresses,
      connection: {
        getAccountInfo: async () => null,
        getSignaturesForAddress: async () => traces,
      },
      time: systemTime,
    } as unknown as LedgerContext,
  })({ wallet: wallet.toBase58(), jobId });
}

const REFUSED = { err: { InstructionError: [0, { Custom: 6_020 }] } };
const DONE = { err: null };

describe('a job that the ledger does not have', () => {
  it('never existed when every transaction about it was refused', async () => {
    expect(await lookUp([])).toBeUndefined();
    expect(await lookUp([REFUSED, REFUSED])).toBeUndefined();
  });

  it('was closed when a transaction about it succeeded', async () => {
    expect(await lookUp([REFUSED, DONE])).toBe('closed');
    expect(await lookUp([DONE, DONE], 'processing')).toBe('closed');
  });

  it.each(['settled', 'failed', 'refunded', 'disputed'])(
    'has the end that the mirror shows: %s',
    async (status) => {
      expect(await lookUp([DONE], status)).toBe(status);
    },
  );
});
