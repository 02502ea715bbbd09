// A project of CommonJS: commonJs.test.ts compiles this with TypeScript's older settings, and runs it.
import { createHmac } from 'node:crypto';
import { createAddresses, IDL, type Escrow as Idl, jobRefund } from '@svc-inference/client';
import { createSender, WithdrawnError } from '@svc-inference/client/sender';
import { type Check, conclude } from '@svc-inference/client/verify';
import { decodeAccount } from '@svc-inference/client/wallet';
import { type Escrow, Refusal, startEscrow, type TestJob } from '@svc-inference/testing';
import {
  verifyWebhook,
  type WebhookEvent,
  WebhookVerificationError,
} from '@svc-inference/webhooks';

const secret = 'a secret of sixteen or more';
const body = JSON.stringify({ id: 'evt_1', event: 'credit.low', data: { threshold: 100 } });

function receive(rawBody: string): WebhookEvent | undefined {
  const seconds = Math.floor(Date.now() / 1_000);
  const digest = createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex');
  try {
    const headers = { 'svc-signature': `t=${seconds},v1=${digest}` };
    return verifyWebhook({ rawBody, headers, secret });
  } catch (error) {
    if (error instanceof WebhookVerificationError) return undefined;
    throw error;
  }
}

async function main(escrow: Escrow): Promise<void> {
  const job: TestJob = await escrow.lock();
  const refusal: unknown = await escrow.refund(job).catch((error: unknown) => error);
  const refund = jobRefund({ job: job.address, creditAccount: job.wallet.creditAccount });
  const account = await escrow.chain.account(job.address);
  const checks: Check[] = [];
  const event = receive(body);
  const idlName: Idl['metadata']['name'] = 'escrow';
  process.stdout.write(
    JSON.stringify({
      threshold: event?.event === 'credit.low' ? event.data.threshold : null,
      forged: receive(`${body} `) ?? null,
      refusal: refusal instanceof Refusal ? refusal.message : null,
      builds: refund.programId.equals(createAddresses().programId),
      decoded: decodeAccount(account?.data ?? new Uint8Array()).name,
      idl: [IDL.metadata.name, idlName],
      sender: [typeof createSender, new WithdrawnError('gone') instanceof Error],
      verdict: typeof conclude(checks),
    }),
  );
}

void startEscrow().then(main);
