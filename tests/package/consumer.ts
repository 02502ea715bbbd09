// A project that has installed the package: packed.test.ts type-checks and runs this file there.
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import anchor from '@coral-xyz/anchor';
import { createAddresses, decodeAccount, IDL, type Job, jobRefund } from '@svc-inference/client';
import idl from '@svc-inference/client/idl.json' with { type: 'json' };
import { type Escrow, Refusal, startEscrow, type TestJob } from '@svc-inference/testing';
import { verifyWebhook } from '@svc-inference/webhooks';

/** What a number of the ledger is called. */
const statusOf = ({ status }: Job): string => status;

async function settle(escrow: Escrow, text: string): Promise<TestJob> {
  const job = await escrow.lock();
  await escrow.acknowledge(job);
  await escrow.prove(job, { text });
  await escrow.settle(job, { text });
  return job;
}

const binary = readFileSync(new URL(import.meta.resolve('@svc-inference/testing/escrow-v3.so')));
const escrow = await startEscrow();
const job = await settle(escrow, 'Hello.');
const account = await escrow.chain.account(job.address);
const decoded = decodeAccount(account?.data ?? new Uint8Array());
const refusal = await escrow.refund(job).catch((error: unknown) => error);
const refund = jobRefund({ job: job.address, creditAccount: job.wallet.creditAccount });

const secret = 'a secret of sixteen or more';
const rawBody = JSON.stringify({
  id: 'evt_1',
  event: 'credit.low',
  created_at: new Date().toISOString(),
  api_version: '2026-11-21',
  data: { credits_remaining: 8, usdc_value: 0.08, threshold: 100 },
});
const seconds = Math.floor(Date.now() / 1_000);
const digest = createHmac('sha256', secret).update(`${seconds}.${rawBody}`).digest('hex');
const headers = { 'svc-signature': `t=${seconds},v1=${digest}` };
const event = verifyWebhook({ rawBody, headers, secret });

process.stdout.write(
  JSON.stringify({
    status: statusOf(await escrow.job(job)),
    decoded: decoded.name,
    refusal: refusal instanceof Refusal ? refusal.message : null,
    builds: refund.programId.equals(createAddresses().programId),
    isElf: binary.subarray(1, 4).toString() === 'ELF',
    anchor: new anchor.BorshInstructionCoder(idl as anchor.Idl).decode(refund.data)?.name,
    instructions: IDL.instructions.length,
    threshold: event.event === 'credit.low' ? event.data.threshold : null,
  }),
);
