import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { EscrowErrorCode } from '../../programs/client/errors.ts';
import { creditWithdraw, modelUpsert } from '../../programs/client/instructions.ts';
import { submit } from '../../stack/operator.ts';
import { openTokens, readTokenAccount } from '../../testing/ledger/tokens.ts';
import { readBooks, untilDispatched } from '../../testing/ledger/walletBooks.ts';
import {
  type Answer,
  openCompletion,
  readAnswer,
  requestCompletion,
} from '../../testing/service/requestCompletion.ts';
import { type RunningService, startRunningService } from '../../testing/service/runningService.ts';
import { until } from '../../testing/until.ts';
import { answerInTwoParts, createScriptedEngine } from '../../testing/workers/engines.ts';
import type { TestWorker } from '../../testing/workers/testWorker.ts';

// Rules whose other tests look inside: here only HTTP, the ledger and signatures are used.

const CREDITS = 1_000n;
const CHARGE = 8;
const RAISED_CHARGE = 20;
/** As the ledger spells it. */
const UNAUTHORIZED = `0x${EscrowErrorCode.Unauthorized.toString(16)}`;
/** After the time-out of a job. */
const REFUNDABLE_SECONDS = 121;
const OTHER_HASH = `sha256:${'0'.repeat(64)}`;

type Wallet = Awaited<ReturnType<RunningService['addWallet']>>;

const engine = createScriptedEngine();
let service: RunningService;
beforeAll(async () => {
  service = await startRunningService({ workers: [{ engine }] });
});
afterAll(() => service?.close());

const worker = () => service.workers[0] as TestWorker;

const complete = ({ apiKey }: Wallet) => requestCompletion(service, { form: 'plain', apiKey });
const jobIdOf = ({ headers }: Pick<Answer, 'headers'>) => String(headers['x-svc-job-id']);
const jobOf = (id: string, { apiKey }: Wallet) => service.get(`/v1/jobs/${id}`, apiKey);

/** A stream that goes on until it is told to end. */
async function openStream({ apiKey }: Wallet) {
  const release = answerInTwoParts(engine);
  const response = await openCompletion(service, { form: 'stream', apiKey });
  return {
    id: jobIdOf(response),
    end: () => {
      release();
      return readAnswer(response);
    },
  };
}

describe('a job, over HTTP', () => {
  it('is in each of its states by what happens to it, and listed under that state alone [jobs.states]', async () => {
    const wallet = await service.addWallet(CREDITS);
    const listed = async (status: string): Promise<string[]> => {
      const { data } = await service.get(`/v1/jobs?status=${status}`, wallet.apiKey);
      return data.map(({ id }: { id: string }) => id);
    };
    const stream = await openStream(wallet);
    await until(async () => (await listed('processing')).join() === stream.id);
    expect(await jobOf(stream.id, wallet)).toMatchObject({ status: 'processing' });
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
    const ids = { settled: stream.id, disputed, failed, refunded };
    for (const [status, id] of Object.entries(ids)) {
      expect([status, await listed(status)]).toEqual([status, [id]]);
      const charged = status === 'failed' || status === 'refunded' ? 0 : CHARGE;
      expect(await jobOf(String(id), wallet)).toMatchObject({ status, credits_charged: charged });
    }
    expect([await listed('pending'), await listed('processing')]).toEqual([[], []]);
  });

  it('has an id of its own, a UUID of version 7 with the time of its lock [jobs.ids]', async () => {
    const wallet = await service.addWallet(CREDITS);
    const ids: string[] = [];
    for (let job = 0; job < 10; job += 1) ids.push(jobIdOf(await complete(wallet)));
    expect(new Set(ids).size).toBe(ids.length);
    for (const id of ids) {
      expect(id).toMatch(
        /^job_[0-9a-f]{8}-?[0-9a-f]{4}-?7[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/,
      );
      const madeMs = Number.parseInt(id.replace('job_', '').replaceAll('-', '').slice(0, 12), 16);
      const { created_at } = await jobOf(id, wallet);
      // The ledger has whole seconds, and locks it some time later.
      expect(Math.abs(Date.parse(created_at) - madeMs)).toBeLessThan(60_000);
    }
  });
});

describe('a price that is raised', () => {
  const prices = async () => {
    const { svc } = await service.get(`/v1/models/${service.model.id}`);
    return svc.credits_per_request;
  };

  it('is shown at once and charged from then on; a job in flight keeps its own [charging.price-changes]', async () => {
    const wallet = await service.addWallet(CREDITS);
    const stream = await openStream(wallet);
    const { model, operator } = service;
    const raised = { ...model, creditsPerRequest: RAISED_CHARGE };
    const authority = operator.authority.publicKey;
    await submit(operator, [modelUpsert({ ...raised, authority })]);
    await until(async () => (await prices()) === RAISED_CHARGE);
    await stream.end();
    const later = jobIdOf(await complete(wallet));
    await submit(operator, [modelUpsert({ ...model, authority })]);
    await service.untilMirrored();
    expect((await jobOf(stream.id, wallet)).credits_charged).toBe(CHARGE);
    expect((await jobOf(later, wallet)).credits_charged).toBe(RAISED_CHARGE);
  });
});

describe('an API key', () => {
  it('opens only what spends: completions, disputes and webhooks', async () => {
    const document = await service.get('/openapi.json');
    const changing = Object.entries<object>(document.paths).flatMap(([path, operations]) =>
      Object.keys(operations)
        .filter((method) => !['get', 'parameters'].includes(method))
        .map((method) => `${method} ${path}`),
    );
    expect(changing.toSorted()).toEqual([
      'delete /v1/webhooks/{webhook_id}',
      'post /v1/chat/completions',
      'post /v1/jobs/{job_id}/dispute',
      'post /v1/webhooks',
    ]);
  });

  it('withdraws nothing, and neither does the gateway that it spends through: the wallet signs [charging.no-withdrawal-by-key]', async () => {
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
      UNAUTHORIZED,
    );
    expect(await readBooks(service, wallet.address)).toMatchObject({ available: CREDITS });
    await submit(operator, [withdrawal], [wallet.keypair]);
    expect(await readBooks(service, wallet.address)).toMatchObject({ available: 0n });
    const { connection } = service.ledger;
    expect((await readTokenAccount(connection, destination)).amount).toBe(CREDITS * 10_000n);
  });
});
