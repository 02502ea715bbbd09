import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { listKeys, reinstateKey } from '../../api/account/keys.ts';
import { untilEnded, untilLocked } from '../../testing/ledger/walletBooks.ts';
import { FORMS, requestCompletion } from '../../testing/service/requestCompletion.ts';
import { type RunningService, startRunningService } from '../../testing/service/runningService.ts';
import { until } from '../../testing/until.ts';

const CREDITS = 1_000n;
const LEFT = 3;

let service: RunningService;

beforeAll(async () => {
  service = await startRunningService({
    workers: ['endless'],
    indexerSettings: { SVC_ABUSE_UNPAID_ENDINGS_PER_HOUR: String(LEFT - 1) },
  });
});

afterAll(() => service?.close());

describe('a wallet that disconnects from its requests again and again', () => {
  it('has its key suspended, is forgiven, and is suspended again [failures.abuse]', async () => {
    const { address, apiKey } = await service.addWallet(CREDITS);
    const other = await service.addWallet(CREDITS);
    const wallet = address.toBase58();
    const keyOf = async () => (await listKeys(service.pool)).find((key) => key.wallet === wallet);
    const leaveRequests = async (earlier: number) => {
      const leaving = new AbortController();
      const body = {
        model: service.model.id,
        messages: [{ role: 'user' as const, content: 'Hi' }],
      };
      const client = service.openai({ apiKey });
      const asking = Array.from({ length: LEFT }, () =>
        client.chat.completions.create(body, { signal: leaving.signal }),
      );
      const left = Promise.allSettled(asking);
      await untilLocked(service, address, earlier + LEFT);
      leaving.abort();
      await left;
      const { jobs, available } = await untilEnded(service, address, earlier + LEFT);
      const gone = { status: 'failed', reason: 'client_gone', charged: 0n };
      expect([jobs.slice(earlier), available]).toEqual([Array(LEFT).fill(gone), CREDITS]);
      await until(async () => (await keyOf())?.status === 'suspended');
    };

    await leaveRequests(0);
    const suspended = { suspended_by: 'indexer', suspension_reason: `unpaid_endings (${LEFT})` };
    expect(await keyOf()).toMatchObject(suspended);
    for (const form of FORMS) {
      expect(await requestCompletion(service, { form, apiKey })).toMatchObject({
        status: 403,
        error: {
          ...{ code: 'key_suspended', type: 'permission_error' },
          message: expect.stringContaining('suspended: too many requests were left, or stopped'),
        },
      });
    }
    expect(await service.get('/v1/account', other.apiKey)).toMatchObject({
      wallet: other.address.toBase58(),
    });

    await reinstateKey(service.pool, wallet);
    expect(await service.get('/v1/account', apiKey)).toMatchObject({ wallet });
    // What was locked in the second of the judgement is forgiven, too.
    await service.advanceSeconds(2);
    await leaveRequests(LEFT);
    // Not those of before.
    expect(await keyOf()).toMatchObject(suspended);
  });
});
