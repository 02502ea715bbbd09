import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { TransactionInstruction } from '@solana/web3.js';
import { PROGRAM_ID } from '../../programs/client/addresses.ts';
import { coder } from '../../testing/ledger/anchorCoder.ts';
import { sentInstructions } from '../../testing/ledger/ledgerGate.ts';
import { type GatedService, startGatedService } from '../../testing/service/gatedService.ts';
import {
  openCompletion,
  readAnswer,
  requestCompletion,
} from '../../testing/service/requestCompletion.ts';
import { landUnchecked } from '../indexer/landUnchecked.ts';

let service: GatedService;

beforeAll(async () => {
  service = await startGatedService({}, { indexer: 'process' });
  service.indexer.signal('SIGSTOP');
});

afterAll(async () => {
  service.indexer.signal('SIGCONT');
  await service.close();
});

const isLock = ({ programId, data }: TransactionInstruction): boolean =>
  programId.equals(PROGRAM_ID) && coder.instruction.decode(data)?.name === 'job_lock';

/** The next lock is preceded by one that the ledger takes, refuses and lists, as after a lost race. */
function refuseOnceOnLedger(): Promise<string> {
  const refused = Promise.withResolvers<string>();
  service.ledgerGate.intercept(async (request, forward) => {
    const lock = sentInstructions(request).find(isLock);
    if (lock) {
      service.ledgerGate.open();
      const keys = lock.keys.map(({ pubkey }) => ({ pubkey, isSigner: false, isWritable: false }));
      const unsigned = new TransactionInstruction({ ...lock, keys });
      refused.resolve(await landUnchecked(service.ledger, unsigned));
    }
    return forward(request);
  });
  return refused.promise;
}

/** The node's lists are behind its accounts, for so many questions. */
function listNothing(times: number): void {
  let left = times;
  service.ledgerGate.intercept(async (request, forward) => {
    const { id, method } = request;
    if (method !== 'getSignaturesForAddress' || left === 0) return forward(request);
    left -= 1;
    return { jsonrpc: '2.0', id, result: [] };
  });
}

describe('a job that is missing in the mirror', () => {
  it('shows the transaction of its lock, not an earlier one that was refused', async () => {
    const refusedTx = refuseOnceOnLedger();
    const stream = await openCompletion(service, { form: 'stream' });
    const { 'x-svc-job-id': id, 'x-svc-tx-signature': escrowTx } = stream.headers;
    const { on_chain } = await service.get(`/v1/jobs/${id}`);
    expect(on_chain.escrow_tx).not.toBe(await refusedTx);
    expect(on_chain.escrow_tx).toBe(escrowTx);
    await service.time.advanceUntil(readAnswer(stream));
  });

  it('is replayed with the balance of its own event, not of an earlier one', async () => {
    const asking = { form: 'stream', headers: { 'idempotency-key': 'said-once' } } as const;
    // By steps that leave the ledger time to settle and to show the event before the answer's wait ends.
    const first = await service.time.advanceUntil(requestCompletion(service, asking), 25);
    const again = await requestCompletion(service, asking);
    const { availableCredits } = await service.account();
    expect(again.headers).toMatchObject({
      'x-svc-replayed': 'true',
      'x-svc-job-id': first.headers['x-svc-job-id'],
    });
    for (const { trailers } of [first, again]) {
      expect(trailers).toHaveProperty('x-svc-output-hash');
      expect(trailers['x-svc-credits-remaining']).toBe(String(availableCredits));
    }
  });

  it('is a valid cursor for the job list', async () => {
    const asking = requestCompletion(service, { form: 'stream' });
    const { headers } = await service.time.advanceUntil(asking);
    for (const cursor of ['before', 'after']) {
      expect(await service.get(`/v1/jobs?${cursor}=${headers['x-svc-job-id']}`)).toEqual({
        object: 'list',
        data: [],
        has_more: false,
        next_cursor: null,
      });
    }
  });

  it('is known at a node that has the job but lists no transaction of it yet', async () => {
    const asking = requestCompletion(service, { form: 'stream' });
    const { headers } = await service.time.advanceUntil(asking);
    const path = `/v1/jobs/${headers['x-svc-job-id']}`;
    listNothing(1);
    expect(await service.get(path)).toMatchObject({ id: headers['x-svc-job-id'] });
    listNothing(100);
    expect(await service.time.advanceUntil(service.get(path))).toMatchObject({
      error: { code: 'service_unavailable' },
    });
    service.ledgerGate.open();
  });
});
