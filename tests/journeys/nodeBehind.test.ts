import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { TransactionInstruction } from '@solana/web3.js';
import { PROGRAM_ID } from '../../programs/client/addresses.ts';
import { EscrowErrorCode } from '../../programs/client/errors.ts';
import { coder } from '../../testing/ledger/anchorCoder.ts';
import { sentInstructions } from '../../testing/ledger/ledgerGate.ts';
import { type GatedService, startGatedService } from '../../testing/service/gatedService.ts';
import { requestCompletion } from '../../testing/service/requestCompletion.ts';

const WRONG_HASH = `sha256:${'0'.repeat(64)}`;
let service: GatedService;
/** Another API, which has sent nothing yet: it knows no slot that its node must have reached. */
let other: { url: string };

beforeAll(async () => {
  service = await startGatedService();
  other = await service.startInstance();
});

afterEach(() => service.ledgerGate.open());

afterAll(() => service?.close());

/** A job that is settled in the mirror. */
async function settleJob(): Promise<string> {
  const { headers } = await requestCompletion(service, { form: 'plain' });
  await service.untilMirrored();
  return String(headers['x-svc-job-id']);
}

async function disputeAtOther(jobId: string) {
  const asking = fetch(`${other.url}/v1/jobs/${jobId}/dispute`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.apiKey}` },
    body: JSON.stringify({ received_output_hash: WRONG_HASH }),
  });
  const response = await service.time.advanceUntil(asking);
  return { status: response.status, body: await response.json() };
}

const isDispute = ({ programId, data }: TransactionInstruction): boolean =>
  programId.equals(PROGRAM_ID) && coder.instruction.decode(data)?.name === 'job_dispute';

/** The node checks disputes against a state of before the settlement, so many times. */
function fallBehind(times: number, settlementSlot: number): void {
  let left = times;
  service.ledgerGate.intercept(async (request, forward) => {
    const { id, method } = request;
    if (left > 0 && sentInstructions(request).some(isDispute)) {
      left -= 1;
      const err = { InstructionError: [0, { Custom: EscrowErrorCode.WrongJobStatus }] };
      const message = 'Transaction simulation failed';
      return { jsonrpc: '2.0', id, error: { code: -32002, message, data: { err, logs: [] } } };
    }
    const answer = await forward(request);
    if (left === 0 || method !== 'getLatestBlockhash') return answer;
    const { result } = answer as { result: object };
    return { ...answer, result: { ...result, context: { slot: settlementSlot - 1 } } };
  });
}

describe('a dispute at a node that has not reached the settlement', () => {
  it('is opened once the node has it, and not reported as opened before', async () => {
    const jobId = await settleJob();
    fallBehind(2, (await service.get(`/v1/jobs/${jobId}`)).on_chain.slot);
    expect(await disputeAtOther(jobId)).toMatchObject({
      status: 200,
      body: { dispute_opened: true, your_hash: WRONG_HASH },
    });
  });

  it('is a 503 while the node stays behind', async () => {
    const jobId = await settleJob();
    fallBehind(100, (await service.get(`/v1/jobs/${jobId}`)).on_chain.slot);
    expect(await disputeAtOther(jobId)).toMatchObject({
      status: 503,
      body: { error: { code: 'service_unavailable' } },
    });
  });
});
