import { describe, expect, it } from '@jest/globals';
import { LAMPORTS_PER_SOL } from '@solana/web3.js';
import { accountSize } from '../../programs/client/codec.ts';
import { TOKEN_ACCOUNT } from '../../programs/client/token/layout.ts';
import { readDocuments } from './documents.ts';

/** Mainnet's in November 2026, as docs/deploying.md says with its source. */
const LAMPORTS_PER_BYTE = 5_080;
const ACCOUNT_OVERHEAD_BYTES = 128;
const LAMPORTS_PER_SIGNATURE = 5_000;

const rentOf = (dataBytes: number): number =>
  (ACCOUNT_OVERHEAD_BYTES + dataBytes) * LAMPORTS_PER_BYTE;
const jobRent = rentOf(accountSize('Job'));
const shown = (number: number): string => number.toLocaleString('en-US');
const textOf = (path: string): string =>
  readDocuments().find((document) => document.path === path)?.text ?? '';

describe('the rent on the pages, at the rate of mainnet', () => {
  const deploying = textOf('docs/deploying.md');

  it('is named with its rate', () => {
    expect(deploying).toContain(`a byte costs ${shown(LAMPORTS_PER_BYTE)} lamports`);
  });

  it('is that of a Job for each open job', () => {
    expect(deploying).toContain(`| ${shown(jobRent)} lamports for each open job at that rate, `);
    expect(textOf('docs/operating.md')).toContain(`the open jobs: ${shown(jobRent)} each `);
  });

  it('is out for three minutes of a job, at ten jobs a second', () => {
    const sol = ((10 * 180 * jobRent) / LAMPORTS_PER_SOL).toFixed(1);
    expect(deploying).toContain(`so ${sol} SOL at 10 jobs a second`);
  });

  it('is that of a credit account, with a fee, for the first purchase', () => {
    const sol = (rentOf(accountSize('CreditAccount')) + LAMPORTS_PER_SIGNATURE) / LAMPORTS_PER_SOL;
    for (const path of ['docs/getting-started.md', 'docs/llms.md']) {
      expect(textOf(path)).toContain(`0.01 SOL: the first purchase takes ${sol.toFixed(5)} SOL at`);
    }
  });

  it('is that of a Worker with its payout and stake accounts', () => {
    const lamports = rentOf(accountSize('Worker')) + 2 * rentOf(TOKEN_ACCOUNT.bytes);
    const sol = (lamports / LAMPORTS_PER_SOL).toFixed(3);
    expect(deploying).toContain(`| registering, staking | ${sol} SOL at that rate, and fees.`);
  });
});
