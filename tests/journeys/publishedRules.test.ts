import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { PublicKey, VersionedTransactionResponse } from '@solana/web3.js';
import { fetchJob } from '../../programs/client/accounts.ts';
import { createAddresses, PROGRAM_ID } from '../../programs/client/addresses.ts';
import { decodeArguments } from '../../programs/client/codec.ts';
import { type DecodedEvent, decodeEvents } from '../../programs/client/events.ts';
import { creditWithdraw, modelUpsert } from '../../programs/client/instructions.ts';
import { parseJobId } from '../../programs/client/jobId.ts';
import {
  parseReceipt,
  proofMessage,
  receiptMessage,
  verifyHashed,
} from '../../programs/client/proof.ts';
import { submit } from '../../stack/operator.ts';
import { REFUNDABLE_SECONDS } from '../../testing/ledger/deadlines.ts';
import { readClockSeconds } from '../../testing/ledger/ledger.ts';
import { openTokens, readTokenAccount } from '../../testing/ledger/tokens.ts';
import { readBooks, untilDispatched } from '../../testing/ledger/walletBooks.ts';
import {
  type Answer,
  openStream,
  ROUTES,
  requestCompletion,
} from '../../testing/service/requestCompletion.ts';
import { type RunningService, startRunningService } from '../../testing/service/runningService.ts';
import { until } from '../../testing/until.ts';
import { createScriptedEngine } from '../../testing/workers/engines.ts';
import type { TestWorker } from '../../testing/workers/testWorker.ts';

// Rules whose other tests look inside: here only HTTP, the ledger and signatures are used.

const addresses = createAddresses();
const CREDITS = 1_000n;
const CHARGE = 8;
const RAISED_CHARGE = 20;
/** As the ledger spells it. */
const OTHER_HASH = `sha256:${'0'.repeat(64)}`;

type Wallet = Awaited<ReturnType<RunningService['addWallet']>>;

const engine = createScriptedEngine();
let service: RunningService;
beforeAll(async () => {
  service = await startRunningService({ workers: [engine] });
});
afterAll(() => service?.close());

const worker = () => service.workers[0] as TestWorker;

const complete = ({ apiKey }: Wallet) => requestCompletion(service, { form: 'plain', apiKey });
const jobIdOf = ({ headers }: Pick<Answer, 'headers'>) => String(headers['x-svc-job-id']);
const jobOf = (id: string, { apiKey }: Wallet) => service.get(`/v1/jobs/${id}`, apiKey);

/** The job's transactions, oldest first, from the ledger alone. */
async function readTransactions(job: PublicKey): Promise<VersionedTransactionResponse[]> {
  const { connection } = service.ledger;
  const signatures = await connection.getSignaturesForAddress(job, {}, 'confirmed');
  const found = await Promise.all(
    signatures.reverse().map(({ signature }) =>
      connection.getTransaction(signature, {
        commitment: 'confirmed',
        maxSupportedTransactionVersion: 1,
      }),
    ),
  );
  return found as VersionedTransactionResponse[];
}

function eventOf<Name extends DecodedEvent['name']>(
  transactions: VersionedTransactionResponse[],
  name: Name,
) {
  for (const transaction of transactions) {
    for (const event of decodeEvents(transaction)) {
      if (event.name === name) {
        return { transaction, data: event.data as Extract<DecodedEvent, { name: Name }>['data'] };
      }
    }
  }
  throw new Error(`no ${name} in the job's transactions`);
}

/** How much a transaction put into a token account, in base units. */
function received(transaction: VersionedTransactionResponse, account: PublicKey): bigint {
  const index = transaction.transaction.message.staticAccountKeys.findIndex((key) =>
    key.equals(account),
  );
  const amount = (balances: typeof transaction.meta extends null ? never : unknown) =>
    BigInt(
      (balances as { accountIndex: number; uiTokenAmount: { amount: string } }[]).find(
        (balance) => balance.accountIndex === index,
      )?.uiTokenAmount.amount ?? '0',
    );
  return amount(transaction.meta?.postTokenBalances) - amount(transaction.meta?.preTokenBalances);
}

describe.each(ROUTES)('a job of %s, verified by an RPC address and its text,', (route) => {
  it('locked before the work, proved this text, and paid to the base unit [charging.lock-before-work] [charging.never-above-lock] [charging.shares] [jobs.ledger-record]', async () => {
    // All that a client keeps of an answer.
    const body = { max_tokens: 4_000 };
    const answer = await requestCompletion(service, { form: 'plain', route, body });
    const { text } = answer;
    const receipt = parseReceipt(String(answer.headers['x-svc-delivery-receipt']));
    if (!receipt) throw new Error('the delivery receipt is malformed');
    const { connection } = service.ledger;
    const creditAccount = addresses.creditAccount(service.wallet.publicKey);
    const address = addresses.job(creditAccount, parseJobId(jobIdOf(answer)) as Uint8Array);
    const job = await fetchJob(connection, address, { commitment: 'confirmed' });
    if (!job) throw new Error('the job is not on the ledger');
    expect(job.status).toBe('settled');

    const transactions = await readTransactions(address);
    const locked = eventOf(transactions, 'JobLocked');
    const settled = eventOf(transactions, 'JobCompleted');
    expect(locked.transaction.slot).toBeLessThan(settled.transaction.slot);

    // The lock by the published rule: 4,000 tokens at 4 credits per 1,000.
    expect(locked.data).toMatchObject({
      lockedCredits: 16n,
      tokenLimit: 4_000,
      modelId: service.model.id,
      creditsPerRequest: 8,
      creditsPer1kTokens: 4,
    });
    // The charge by the published rule: up to 500 tokens cost the price of a request.
    expect(settled.data).toMatchObject({ chargedCredits: 8n, returnedCredits: 8n });

    // 8 credits are 80,000 base units: 15 % to the treasury, the rest to the worker.
    expect(settled.data).toMatchObject({
      workerBaseUnits: 68_000n,
      treasuryBaseUnits: 12_000n,
      workerPaid: true,
      treasuryPaid: true,
    });
    expect(received(settled.transaction, worker().payout)).toBe(68_000n);
    expect(received(settled.transaction, addresses.treasuryVault)).toBe(12_000n);
    expect(received(settled.transaction, addresses.vault)).toBe(-80_000n);

    // The remainder is back: nothing of this job is locked any more.
    expect(settled.data.availableCredits - locked.data.availableCredits).toBe(8n);
    expect(locked.data.accountLockedCredits - settled.data.accountLockedCredits).toBe(16n);

    // The text is the proven one, and the worker signed for it.
    const outputHash = createHash('sha256').update(text, 'utf8').digest();
    expect(Buffer.from(settled.data.outputHash)).toEqual(outputHash);
    expect(Buffer.from(job.outputHash)).toEqual(outputHash);
    const message = proofMessage({ ...settled.data, programId: PROGRAM_ID, job: address });
    const signature = proofSignature(settled.transaction);
    expect(verifyHashed({ publicKey: worker().proofKey, message, signature })).toBe(true);

    // The receipt for the client is signed by the key that signed the settlement.
    expect(receipt.signer.equals(settled.data.settledBy)).toBe(true);
    const { statement } = settled.data;
    const delivered = { outputHash, statement };
    const receiptText = receiptMessage({ programId: PROGRAM_ID, job: address, ...delivered });
    const { signer: publicKey, signature: ofReceipt } = receipt;
    expect(verifyHashed({ publicKey, message: receiptText, signature: ofReceipt })).toBe(true);
  });
});

describe('a job, over HTTP', () => {
  it('is in each of its states by its course, and listed in that state alone [jobs.states]', async () => {
    const wallet = await service.addWallet(CREDITS);
    const listed = async (status: string): Promise<string[]> => {
      const { data } = await service.get(`/v1/jobs?status=${status}`, wallet.apiKey);
      return data.map(({ id }: { id: string }) => id);
    };
    const stream = await openStream(service, { engine, apiKey: wallet.apiKey });
    const streamId = jobIdOf(stream);
    await until(async () => (await listed('processing')).join() === streamId);
    expect(await jobOf(streamId, wallet)).toMatchObject({ status: 'processing' });
    await stream.end();

    const disputed = jobIdOf(await complete(wallet));
    const dispute = await fetch(`${service.baseUrl}/v1/jobs/${disputed}/dispute`, {
      method: 'POST',
      headers: { authorization: `Bearer ${wallet.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ received_output_hash: OTHER_HASH }),
    });
    expect(dispute.status).toBe(200);

    worker().setMode('wrong_hash');
    const failed = (await complete(wallet)).error?.details?.job_id;

    worker().setMode('never_answers');
    const unanswered = complete(wallet);
    await untilDispatched(service, wallet.address, 1);
    await service.advanceSeconds(REFUNDABLE_SECONDS);
    const refunded = (await unanswered).error?.details?.job_id;
    worker().setMode('honest');

    await service.untilMirrored();
    const ids = { settled: streamId, disputed, failed, refunded };
    for (const [status, id] of Object.entries(ids)) {
      expect([status, await listed(status)]).toEqual([status, [id]]);
      const charged = status === 'failed' || status === 'refunded' ? 0 : CHARGE;
      expect(await jobOf(String(id), wallet)).toMatchObject({ status, credits_charged: charged });
    }
    expect([await listed('pending'), await listed('processing')]).toEqual([[], []]);
  });

  it('has an id of its own, a UUID of version 7 with the time of its lock [jobs.ids]', async () => {
    const wallet = await service.addWallet(CREDITS);
    const { connection } = service.ledger;
    const before = Number(await readClockSeconds(connection));
    const ids: string[] = [];
    for (let job = 0; job < 10; job += 1) ids.push(jobIdOf(await complete(wallet)));
    const after = Number(await readClockSeconds(connection));
    expect(new Set(ids).size).toBe(ids.length);
    for (const id of ids) {
      expect(id).toMatch(
        /^job_[0-9a-f]{8}-?[0-9a-f]{4}-?7[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/,
      );
      const madeMs = Number.parseInt(id.replace('job_', '').replaceAll('-', '').slice(0, 12), 16);
      const lockedAt = Date.parse((await jobOf(id, wallet)).created_at) / 1_000;
      expect(before <= lockedAt && lockedAt <= after).toBe(true);
      // The ledger has whole seconds.
      expect(before - 1 <= madeMs / 1_000 && madeMs / 1_000 <= after + 1).toBe(true);
    }
  });
});

describe('a price that is raised', () => {
  /** How far the API may be behind the mirror. */
  const REFRESH_MS = 1_000;

  async function mirroredPrice(): Promise<number> {
    const { rows } = await service.pool.query(
      'select credits_per_request from mirror.models where id = $1',
      [service.model.id],
    );
    return Number(rows[0]?.credits_per_request);
  }

  const prices = async () => {
    const { svc } = await service.get(`/v1/models/${service.model.id}`);
    return svc.credits_per_request;
  };

  it('is shown at once and charged from then on; a job in flight keeps its own [charging.price-changes]', async () => {
    const wallet = await service.addWallet(CREDITS);
    const stream = await openStream(service, { engine, apiKey: wallet.apiKey });
    const streamId = jobIdOf(stream);
    const { model, operator } = service;
    const raised = { ...model, creditsPerRequest: RAISED_CHARGE };
    const authority = operator.authority.publicKey;
    await submit(operator, [modelUpsert({ ...raised, authority })]);
    await until(async () => (await mirroredPrice()) === RAISED_CHARGE);
    service.time.advance(REFRESH_MS);
    await until(async () => (await prices()) === RAISED_CHARGE);
    await stream.end();
    const later = jobIdOf(await complete(wallet));
    await submit(operator, [modelUpsert({ ...model, authority })]);
    await service.untilMirrored();
    expect((await jobOf(streamId, wallet)).credits_charged).toBe(CHARGE);
    expect((await jobOf(later, wallet)).credits_charged).toBe(RAISED_CHARGE);
  });
});

describe('an API key', () => {
  it('withdraws nothing, and neither does its gateway: the wallet signs [charging.no-withdrawal-by-key]', async () => {
    const wallet = await service.addWallet(CREDITS);
    for (const path of ['/v1/account', '/v1/account/withdraw', '/v1/credits/withdraw']) {
      const answer = await fetch(`${service.baseUrl}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${wallet.apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({ credits: 1 }),
      });
      expect([path, answer.status]).toEqual([path, 404]);
    }
    const { operator } = service;
    const destination = await openTokens(operator, {
      owner: wallet.address,
      like: worker().payout,
    });
    const withdrawal = creditWithdraw({ wallet: wallet.address, destination, credits: CREDITS });
    const signedByGateway = {
      ...withdrawal,
      keys: withdrawal.keys.map((key) => ({
        ...key,
        pubkey: key.isSigner ? service.hotSigner.publicKey : key.pubkey,
      })),
    };
    await expect(submit(operator, [signedByGateway], [service.hotSigner])).rejects.toThrow(
      'Unauthorized',
    );
    expect(await readBooks(service, wallet.address)).toMatchObject({ available: CREDITS });
    await submit(operator, [withdrawal], [wallet.keypair]);
    expect(await readBooks(service, wallet.address)).toMatchObject({ available: 0n });
    const { connection } = service.ledger;
    expect((await readTokenAccount(connection, destination)).amount).toBe(CREDITS * 10_000n);
  });
});

/** The worker's signature that the program verified in this transaction. */
function proofSignature({ transaction }: VersionedTransactionResponse): Uint8Array {
  for (const { data } of transaction.message.compiledInstructions) {
    const completed = decodeArguments('job_complete', data);
    if (completed) return completed.signature as Uint8Array;
  }
  throw new Error('no proof was verified in this transaction');
}
