import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Keypair, type PublicKey } from '@solana/web3.js';
import { createKey, revokeKey } from '../../api/account/keys.ts';
import { creditWithdraw, limitSet } from '../../programs/client/instructions.ts';
import { submit } from '../../stack/operator.ts';
import { openTokens, readTokenAccount } from '../../testing/ledger/tokens.ts';
import { readBooks } from '../../testing/ledger/walletBooks.ts';
import { requestCompletion } from '../../testing/service/requestCompletion.ts';
import { type RunningService, startRunningService } from '../../testing/service/runningService.ts';
import { until } from '../../testing/until.ts';

// What whoever may write to the database, and nothing else, can do with others' money at most.

const CREDITS = 100n;
/** What a request costs. */
const CHARGE = 8n;
const LIMITS = { limitPerJobCredits: CHARGE, limitPerDayCredits: 3n * CHARGE };
/** The worker's share of it. */
const WORKER_BASE_UNITS = 68_000n;

let service: RunningService;

beforeAll(async () => {
  service = await startRunningService();
});

afterAll(() => service?.close());

/** The mirror's balance of a wallet, as somebody wrote it. */
const writeBalance = (wallet: PublicKey, credits: bigint) =>
  service.pool.query('update mirror.credit_accounts set available_credits = $2 where wallet = $1', [
    wallet.toBase58(),
    credits,
  ]);

/** A new token account of somebody's. */
function openTokensOf(owner: PublicKey): Promise<PublicKey> {
  const [{ payout: like }] = service.workers as [(typeof service.workers)[0]];
  return openTokens(service.operator, { owner, like });
}

describe('an operator of the database', () => {
  it('spends no more by a key that he inserts than the wallet’s limit: 24 of 100 credits a day', async () => {
    const { address, keypair } = await service.addWallet(CREDITS);
    await submit(service.operator, [limitSet({ wallet: address, ...LIMITS })], [keypair]);
    await revokeKey(service.pool, address.toBase58());
    const apiKey = await createKey(service.pool, address.toBase58());
    const statuses: number[] = [];
    for (let request = 0; request < 5; request += 1) {
      const { status } = await requestCompletion(service, { form: 'plain', apiKey });
      statuses.push(status);
    }
    expect(statuses).toEqual([200, 200, 200, 403, 403]);
    expect(await readBooks(service, address)).toMatchObject({
      available: CREDITS - LIMITS.limitPerDayCredits,
      locked: 0n,
    });
  });

  it('gives a wallet no credit: 1,000,000 in the mirror buy nothing', async () => {
    const { address, apiKey } = await service.addWallet(CHARGE - 1n);
    await writeBalance(address, 1_000_000n);
    const { status, error } = await requestCompletion(service, { form: 'plain', apiKey });
    expect([status, error?.code]).toEqual([402, 'insufficient_credits']);
    expect(await readBooks(service, address)).toEqual({
      available: CHARGE - 1n,
      locked: 0n,
      jobs: [],
    });
  });

  it('takes no credit from a wallet: with 0 in the mirror it withdraws all 100', async () => {
    const { address, keypair } = await service.addWallet(CREDITS);
    await writeBalance(address, 0n);
    const destination = await openTokensOf(address);
    const withdrawal = creditWithdraw({ wallet: address, destination, credits: CREDITS });
    await submit(service.operator, [withdrawal], [keypair]);
    expect(await service.account(address)).toMatchObject({ availableCredits: 0n });
    const { amount } = await readTokenAccount(service.ledger.connection, destination);
    expect(amount).toBe(CREDITS * 10_000n);
  });

  it('pays no worker’s share elsewhere: another payout in the mirror gets nothing', async () => {
    const { address, apiKey } = await service.addWallet(CREDITS);
    const [{ address: worker, payout }] = service.workers as [(typeof service.workers)[0]];
    const stolen = await openTokensOf(Keypair.generate().publicKey);
    const { connection } = service.ledger;
    const paidBefore = (await readTokenAccount(connection, payout)).amount;
    await service.pool.query('update mirror.workers set payout = $2 where address = $1', [
      worker,
      stolen.toBase58(),
    ]);
    // Until the API has read it.
    await until(async () => {
      const { status } = await requestCompletion(service, { form: 'plain', apiKey });
      return status === 200;
    });
    await service.untilJobs((jobs) => jobs.every(({ data }) => data.status === 'settled'));
    const { jobs } = await readBooks(service, address);
    const paid = (await readTokenAccount(connection, payout)).amount - paidBefore;
    expect(paid).toBe(BigInt(jobs.length) * WORKER_BASE_UNITS);
    expect((await readTokenAccount(connection, stolen)).amount).toBe(0n);
    await service.expectConserved();
  });
});
