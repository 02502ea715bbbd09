import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { base58 } from '@scure/base';
import { PublicKey } from '@solana/web3.js';
import { selectOpenDisputes } from '../../api/sql/operator.ts';
import { fetchJob, fetchTreasury } from '../../programs/client/accounts.ts';
import { createAddresses } from '../../programs/client/addresses.ts';
import { BASE_UNITS_PER_CREDIT } from '../../programs/client/generated/constants.ts';
import type { Job } from '../../programs/client/generated/types.ts';
import { verdictInstruction } from '../../programs/client/instructions.ts';
import { parseJobId } from '../../programs/client/jobId.ts';
import { tokenMintTo } from '../../programs/client/token/instructions.ts';
import { submit } from '../../stack/operator.ts';
import { runCli } from '../../testing/cli.ts';
import { otherReceipt } from '../../testing/kit/jobInstructions.ts';
import { advanceToVerdict } from '../../testing/ledger/disputes.ts';
import { setClockSeconds, startClock, stopClock } from '../../testing/ledger/ledger.ts';
import { readTokenAccount } from '../../testing/ledger/tokens.ts';
import { ofWallet } from '../../testing/ledger/walletBooks.ts';
import { type Form, requestCompletion } from '../../testing/service/requestCompletion.ts';
import { type RunningService, startRunningService } from '../../testing/service/runningService.ts';
import { until } from '../../testing/until.ts';

const CREDITS = 100n;
const CHARGE_CREDITS = 8n;
const WINDOW_SECONDS = 60;
const DAY_SECONDS = 24 * 3_600;
const ARBITRATION_SECONDS = DAY_SECONDS;
/** Of a wallet at a time, by the service. */
const OPEN_DISPUTES_MAX = 127;
/** Of a transaction with one signature. */
const FEE_LAMPORTS = 5_000;

const addresses = createAddresses();
let service: RunningService;
/** Of one test: disputes count against their wallet. */
let wallet: { address: PublicKey; apiKey: string };

beforeAll(async () => {
  service = await startRunningService();
});

beforeEach(async () => {
  wallet = await service.addWallet(CREDITS);
});

afterAll(() => service?.close());

const sha256 = (text: string) => `sha256:${createHash('sha256').update(text).digest('hex')}`;

/** @returns a completion's job, and the hash of the text that arrived */
async function complete(form: Form = 'plain'): Promise<{ jobId: string; hash: string }> {
  const { apiKey } = wallet;
  const { headers, body } = await requestCompletion(service, { form, apiKey });
  const hash = form === 'plain' ? sha256(JSON.parse(body).choices?.[0].message.content ?? '') : '';
  return { jobId: String(headers['x-svc-job-id']), hash };
}

async function dispute(jobId: string, hash: unknown, apiKey = wallet.apiKey) {
  const response = await fetch(`${service.baseUrl}/v1/jobs/${jobId}/dispute`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ received_output_hash: hash }),
  });
  const body = (await response.json()) as Record<string, unknown> & {
    error?: { code: string; param: string | null; details?: Record<string, unknown> };
  };
  return { status: response.status, body };
}

const refusalOf = ({ status, body }: Awaited<ReturnType<typeof dispute>>) => [
  status,
  body.error?.code,
];

const addressOf = (jobId: string) =>
  addresses.job(addresses.creditAccount(wallet.address), parseJobId(jobId) as Uint8Array);

async function onLedger(jobId: string): Promise<Job> {
  const job = await fetchJob(service.ledger.connection, addressOf(jobId));
  if (!job) throw new Error('the job is not on the ledger');
  return job;
}

/** Of all disputes that are open. */
async function exposureBaseUnits(): Promise<bigint> {
  const treasury = await fetchTreasury(service.ledger.connection, addresses.treasury);
  if (!treasury) throw new Error('the program is not initialized');
  return treasury.disputedExposureBaseUnits;
}

/** The arbiter decides. */
async function resolve(jobId: string, verdict: 'rejected' | 'upheld_gateway'): Promise<void> {
  const job = await onLedger(jobId);
  const evidence = verdict === 'rejected' ? [] : [otherReceipt(service, addressOf(jobId))];
  await advanceToVerdict(service.ledger.connection, job);
  const instruction = verdictInstruction(evidence, {
    arbiter: service.arbiter.publicKey,
    job: addressOf(jobId),
    creditAccount: addresses.creditAccount(wallet.address),
    worker: job.worker,
    verdict,
  });
  await submit(service.operator, [instruction], [service.arbiter]);
}

/** Of the next day by UTC, so that the test does not run over midnight. */
async function advanceToNoon(): Promise<void> {
  const { connection } = service.ledger;
  const now = (await connection.getBlockTime(await connection.getSlot())) ?? 0;
  const noon = (Math.floor(now / DAY_SECONDS) + 1.5) * DAY_SECONDS;
  await service.advanceSeconds(noon - now);
}

/** What an upheld dispute is repaid from; this job's share alone would not do. */
async function fillTreasury(): Promise<void> {
  const { operator, mints } = service;
  const authority = operator.authority.publicKey;
  const baseUnits = CHARGE_CREDITS * BASE_UNITS_PER_CREDIT;
  const account = addresses.treasuryVault;
  await submit(operator, [tokenMintTo({ mint: mints.credit, account, authority, baseUnits })]);
}

describe('a dispute', () => {
  it('is opened for a different hash, and its job shows it until its rejection [disputes.opened] [disputes.decided]', async () => {
    const { jobId, hash } = await complete();
    const exposedBefore = await exposureBaseUnits();
    const received = sha256('another text');
    const { status, body } = await dispute(jobId, received);
    expect(status).toBe(200);
    expect(body).toEqual({
      job_id: jobId,
      dispute_opened: true,
      your_hash: received,
      worker_hash: hash,
      dispute_tx: expect.any(String),
      arbitration_window_hours: 24,
    });
    const { status: ledgerStatus, clientHash } = await onLedger(jobId);
    expect(ledgerStatus).toBe('disputed');
    expect(`sha256:${Buffer.from(clientHash).toString('hex')}`).toBe(received);
    expect((await exposureBaseUnits()) - exposedBefore).toBe(
      CHARGE_CREDITS * BASE_UNITS_PER_CREDIT,
    );
    const job = await service.get(`/v1/jobs/${jobId}`, wallet.apiKey);
    expect(job).toMatchObject({
      status: 'disputed',
      dispute: { status: 'open', your_hash: received, dispute_tx: body.dispute_tx },
    });
    const { opened_at, arbitration_ends_at } = job.dispute;
    expect(Date.parse(arbitration_ends_at) - Date.parse(opened_at)).toBe(
      ARBITRATION_SECONDS * 1_000,
    );

    expect(refusalOf(await dispute(jobId, received))).toEqual([409, 'dispute_already_open']);
    await resolve(jobId, 'rejected');
    await service.untilMirrored();
    expect(await service.get(`/v1/jobs/${jobId}`, wallet.apiKey)).toMatchObject({
      status: 'settled',
      credits_charged: Number(CHARGE_CREDITS),
      dispute: { status: 'rejected', resolution_tx: expect.any(String) },
    });
    expect(refusalOf(await dispute(jobId, received))).toEqual([409, 'dispute_already_open']);
    expect(await exposureBaseUnits()).toBe(exposedBefore);
  });

  it('returns the charge when a receipt of another text upholds it [disputes.decided] [disputes.evidence]', async () => {
    await advanceToNoon();
    const { jobId } = await complete();
    await dispute(jobId, sha256('another text'));
    await fillTreasury();
    await resolve(jobId, 'upheld_gateway');
    // The keeper pays what is owed.
    const account = () => service.get('/v1/account', wallet.apiKey);
    await until(async () => (await account()).credits_remaining === Number(CREDITS));
    // The day's limit has nothing back: a repayment is no reason to spend more today.
    expect(await account()).toMatchObject({ charged_today_credits: Number(CHARGE_CREDITS) });
    await service.untilMirrored();
    expect(await service.get(`/v1/jobs/${jobId}`, wallet.apiKey)).toMatchObject({
      status: 'refunded',
      credits_charged: 0,
      dispute: { status: 'upheld' },
    });
    await service.expectConserved();
  });

  it('expires after 24 hours without a decision [disputes.expiry]', async () => {
    const { jobId } = await complete();
    await dispute(jobId, sha256('another text'));
    await service.advanceSeconds(ARBITRATION_SECONDS + 1);
    await until(async () => (await onLedger(jobId)).outcome !== 'none');
    await service.untilMirrored();
    expect(await service.get(`/v1/jobs/${jobId}`, wallet.apiKey)).toMatchObject({
      status: 'settled',
      dispute: { status: 'expired' },
    });
  });

  it('is not opened for equal hashes, in upper or lower case [disputes.equal]', async () => {
    const { jobId, hash } = await complete();
    const shouted = `sha256:${hash.slice('sha256:'.length).toUpperCase()}`;
    const { status, body } = await dispute(jobId, shouted);
    expect(status).toBe(200);
    expect(body).toEqual({
      job_id: jobId,
      dispute_opened: false,
      your_hash: hash,
      worker_hash: hash,
      message: expect.any(String),
    });
    expect((await onLedger(jobId)).status).toBe('settled');
  });

  it('waits for a job that is still settling after its stream [disputes.still-settling]', async () => {
    const { jobId } = await complete('stream');
    const { status, body } = await dispute(jobId, sha256('another text'));
    expect([status, body.dispute_opened]).toEqual([200, true]);
  });

  it.each([
    ['is answered in the last second of the window', 0n, [200, undefined]],
    ['is refused in the next one', 1n, [422, 'dispute_window_expired']],
    ["is refused later, by the ledger's clock", 60n, [422, 'dispute_window_expired']],
  ])('%s [disputes.window]', async (_case, late, end) => {
    const { connection } = service.ledger;
    const { jobId, hash } = await complete();
    await stopClock(connection);
    try {
      const job = await onLedger(jobId);
      const settledAt = job.lockedAt + BigInt(job.endedAfterSeconds);
      await setClockSeconds(connection, settledAt + BigInt(WINDOW_SECONDS) + late);
      for (const received of [hash, sha256('another text')]) {
        expect(refusalOf(await dispute(jobId, received))).toEqual(end);
      }
    } finally {
      await startClock(connection);
    }
  });

  it('is refused for another wallet, an unknown job and a malformed hash [disputes.refusals]', async () => {
    const { jobId, hash } = await complete();
    const { apiKey } = await service.addWallet(100n);
    expect(refusalOf(await dispute(jobId, hash, apiKey))).toEqual([404, 'job_not_found']);
    const unknown = jobId.replace(/.{8}$/, '00000000');
    expect(refusalOf(await dispute(unknown, hash))).toEqual([404, 'job_not_found']);
    expect(refusalOf(await dispute('job_1', hash))).toEqual([404, 'job_not_found']);
    for (const malformed of [undefined, 7, '', hash.slice(7), `${hash}0`, hash.slice(0, -1)]) {
      const { status, body } = await dispute(jobId, malformed);
      expect([status, body.error?.code, body.error?.param]).toEqual([
        400,
        'invalid_request',
        'received_output_hash',
      ]);
    }
  });

  it('is one of 127 of a wallet, which bind rent and exposure for a day [disputes.refusals]', async () => {
    const { connection } = service.ledger;
    wallet = await service.addWallet(CHARGE_CREDITS * BigInt(OPEN_DISPUTES_MAX + 1));
    const crank = base58.decode(service.indexerEnvironment.SVC_CRANK_KEY ?? '').subarray(32);
    const worker = service.workers[0]?.payout as PublicKey;
    const read = async () => ({
      signer: await connection.getBalance(service.hotSigner.publicKey, 'confirmed'),
      crank: await connection.getBalance(new PublicKey(crank), 'confirmed'),
      paid: (await readTokenAccount(connection, worker)).amount,
      exposure: await exposureBaseUnits(),
    });
    const before = await read();
    const open = async () => {
      const { jobId } = await complete();
      expect((await dispute(jobId, sha256('another text'))).status).toBe(200);
      return jobId;
    };
    const first = await open();
    let left = OPEN_DISPUTES_MAX - 1;
    const openRest = async () => {
      while (left-- > 0) await open();
    };
    await Promise.all(Array.from({ length: 16 }, openRest));
    const charged = CHARGE_CREDITS * BigInt(OPEN_DISPUTES_MAX) * BASE_UNITS_PER_CREDIT;
    const disputed = await read();
    expect(disputed.exposure - before.exposure).toBe(charged);
    expect(disputed.paid - before.paid).toBe((charged * 85n) / 100n);

    const { jobId } = await complete();
    await service.untilMirrored();
    const refused = await dispute(jobId, sha256('another text'));
    expect(refusalOf(refused)).toEqual([422, 'dispute_limit_reached']);
    const { arbitration_ends_at } = (await service.get(`/v1/jobs/${first}`, wallet.apiKey)).dispute;
    const counts = { limit: OPEN_DISPUTES_MAX, open: OPEN_DISPUTES_MAX };
    const details = { job_id: jobId, ...counts, next_ends_at: arbitration_ends_at };
    expect(refused.body.error?.details).toEqual(details);

    // The arbiter sees all of them, and those of other wallets between them.
    const asArbiter = { env: { DATABASE_URL: service.apiEnvironment.DATABASE_URL as string } };
    const { output } = await runCli(['disputes', 'list'], asArbiter);
    expect(output.split('┌').length - 1).toBeGreaterThanOrEqual(OPEN_DISPUTES_MAX);
    const { address } = wallet;
    wallet = await service.addWallet(CREDITS);
    await dispute((await complete()).jobId, sha256('another text'));
    const shown = await selectOpenDisputes(service.pool, 5);
    expect(shown.map((row) => row.wallet)).toContain(wallet.address.toBase58());

    const [job] = ofWallet(await service.jobs(), address);
    const rent = (await connection.getAccountInfo(job?.address as PublicKey))?.lamports ?? 0;
    const bound = OPEN_DISPUTES_MAX * rent;
    await service.advanceSeconds(ARBITRATION_SECONDS + 1);
    await service.untilJobs((jobs) => ofWallet(jobs, address).length === 0);
    const after = await read();
    // Lock, settlement and dispute of each, and what came back of it.
    const feesMax = 3 * FEE_LAMPORTS * OPEN_DISPUTES_MAX;
    expect(before.signer - disputed.signer).toBeLessThan(bound + feesMax);
    expect(after.signer - disputed.signer).toBeGreaterThan(bound - 10 * FEE_LAMPORTS);
    expect(before.crank - after.crank).toBeLessThan(30 * FEE_LAMPORTS);
    expect(after.exposure - before.exposure).toBeLessThanOrEqual(8n * BASE_UNITS_PER_CREDIT);
  });

  it('is opened once when it is requested twice at the same time [disputes.refusals]', async () => {
    const { jobId } = await complete();
    const answers = await Promise.all([
      dispute(jobId, sha256('another text')),
      dispute(jobId, sha256('a third text')),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
  });
});

describe('a job without a charge', () => {
  it('cannot be disputed [disputes.refusals]', async () => {
    service.workers[0]?.setMode('wrong_hash');
    const { jobId } = await complete();
    service.workers[0]?.setMode('honest');
    const refused = await dispute(jobId, sha256('another text'));
    expect(refusalOf(refused)).toEqual([422, 'job_not_settled']);
  });
});
