import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Ed25519Program, type PublicKey, type VersionedTransactionResponse } from '@solana/web3.js';
import { fetchJob } from '../../programs/client/accounts.ts';
import { createAddresses, PROGRAM_ID } from '../../programs/client/addresses.ts';
import { type DecodedEvent, decodeEvents } from '../../programs/client/events.ts';
import { parseJobId } from '../../programs/client/jobId.ts';
import {
  parseReceipt,
  proofMessage,
  receiptMessage,
  verifySignature,
} from '../../programs/client/proof.ts';
import { type RunningService, startRunningService } from '../../testing/service/runningService.ts';

const addresses = createAddresses();
let service: RunningService;

beforeAll(async () => {
  service = await startRunningService();
});

afterAll(() => service.close());

/** All that a client keeps of an answer. */
async function buyAnswer() {
  const { data, response } = await service
    .openai()
    .chat.completions.create({
      model: service.model.id,
      messages: [{ role: 'user', content: 'Say hello.' }],
      max_tokens: 4_000,
    })
    .withResponse();
  return {
    jobId: (response.headers.get('x-svc-job-id') as string).replace('chatcmpl-', ''),
    text: data.choices[0]?.message.content as string,
    receipt: response.headers.get('x-svc-delivery-receipt') as string,
  };
}

/** The job's transactions, oldest first, from the ledger alone. */
async function readTransactions(job: PublicKey): Promise<VersionedTransactionResponse[]> {
  const { connection } = service.ledger;
  const signatures = await connection.getSignaturesForAddress(job, {}, 'confirmed');
  const found = await Promise.all(
    signatures.reverse().map(({ signature }) =>
      connection.getTransaction(signature, {
        commitment: 'confirmed',
        maxSupportedTransactionVersion: 0,
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

describe('a settled job, verified with only an RPC address and its text,', () => {
  it('locked before the work, proved this text, and paid to the base unit [charging.lock-before-work] [charging.never-above-lock] [charging.shares] [jobs.ledger-record]', async () => {
    const { jobId, text, receipt } = await buyAnswer();
    const { connection } = service.ledger;
    const creditAccount = addresses.creditAccount(service.wallet.publicKey);
    const address = addresses.job(creditAccount, parseJobId(jobId) as Uint8Array);
    const job = await fetchJob(connection, address, { commitment: 'confirmed' });
    if (!job) throw new Error('the job is not on the ledger');
    expect(job.status).toBe('settled');

    const transactions = await readTransactions(address);
    const locked = eventOf(transactions, 'JobLocked');
    const proven = eventOf(transactions, 'JobProven');
    const settled = eventOf(transactions, 'JobSettled');
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
    const worker = service.workers[0];
    if (!worker) throw new Error('the service runs without a worker');
    expect(received(settled.transaction, worker.payout)).toBe(68_000n);
    expect(received(settled.transaction, addresses.treasuryVault)).toBe(12_000n);
    expect(received(settled.transaction, addresses.vault)).toBe(-80_000n);

    // The remainder is back: nothing of this job is locked any more.
    expect(settled.data.availableCredits - locked.data.availableCredits).toBe(8n);
    expect(locked.data.accountLockedCredits - settled.data.accountLockedCredits).toBe(16n);

    // The text is the proven one, and the worker signed for it.
    const outputHash = createHash('sha256').update(text, 'utf8').digest();
    expect(Buffer.from(proven.data.outputHash)).toEqual(outputHash);
    expect(Buffer.from(job.outputHash)).toEqual(outputHash);
    const message = proofMessage({
      programId: PROGRAM_ID,
      job: address,
      worker: proven.data.worker,
      attempt: proven.data.attempt,
      outputHash,
      promptTokens: proven.data.promptTokens,
      completionTokens: proven.data.completionTokens,
    });
    const signature = ed25519Signature(proven.transaction);
    expect(verifySignature({ publicKey: worker.proofKey, message, signature })).toBe(true);

    // The receipt for the client is signed by the key that signed the settlement.
    const parsed = parseReceipt(receipt);
    if (!parsed) throw new Error('the delivery receipt is malformed');
    expect(parsed.signer.equals(settled.data.settledBy)).toBe(true);
    const receiptText = receiptMessage({ programId: PROGRAM_ID, job: address, outputHash });
    expect(
      verifySignature({
        publicKey: parsed.signer,
        message: receiptText,
        signature: parsed.signature,
      }),
    ).toBe(true);
  });
});

/** The signature that the precompile verified in this transaction. */
function ed25519Signature(transaction: VersionedTransactionResponse): Uint8Array {
  const { message } = transaction.transaction;
  const instruction = message.compiledInstructions.find(({ programIdIndex }) =>
    message.staticAccountKeys[programIdIndex]?.equals(Ed25519Program.programId),
  );
  if (!instruction) throw new Error('no signature was verified in this transaction');
  const view = Buffer.from(instruction.data);
  const offset = view.readUInt16LE(2);
  return view.subarray(offset, offset + 64);
}
