import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { PublicKey } from '@solana/web3.js';
import { reconcile } from '../../indexer/reconcile/reconcile.ts';
import { isEnded } from '../../programs/client/accounts.ts';
import { createAddresses } from '../../programs/client/addresses.ts';
import { ofWallet } from '../../testing/ledger/walletBooks.ts';
import { type RunningService, startRunningService } from '../../testing/service/runningService.ts';

const REQUESTS = 200;
const CHARGE_CREDITS = 8n;
let service: RunningService;

beforeAll(async () => {
  service = await startRunningService({ workers: ['honest', 'honest'] });
  // However late the ledger is, no request is turned away for it.
  service.time.hold();
});

afterAll(async () => {
  service?.time.release();
  await service?.close();
});

/** Half of them streamed; each with its own body, so that none is taken for a repeat. */
async function ask(apiKey: string, index: number): Promise<void> {
  const body = {
    model: service.model.id,
    messages: [{ role: 'user' as const, content: `Request ${index}.` }],
  };
  const client = service.openai({ apiKey });
  if (index % 2 === 0) {
    await client.chat.completions.create(body);
    return;
  }
  const stream = await client.chat.completions.create({ ...body, stream: true });
  for await (const _chunk of stream);
}

/** Every request is answered at its first try, and is a settled job. */
async function expectAllSettled(
  wallets: readonly { address: PublicKey; apiKey: string }[],
  credits: bigint,
): Promise<void> {
  const each = REQUESTS / wallets.length;
  await Promise.all(
    wallets.flatMap(({ apiKey }, wallet) =>
      Array.from({ length: each }, (_, request) => ask(apiKey, wallet * each + request)),
    ),
  );
  const jobs = await service.untilJobs((found) => found.every(({ data }) => isEnded(data.status)));
  for (const { address } of wallets) {
    const ends = ofWallet(jobs, address).map(({ data }) => [data.status, data.chargedCredits]);
    expect(ends).toEqual(Array(each).fill(['settled', CHARGE_CREDITS]));
    const { availableCredits, lockedCredits } = await service.account(address);
    expect({ availableCredits, lockedCredits }).toEqual({
      availableCredits: credits - BigInt(each) * CHARGE_CREDITS,
      lockedCredits: 0n,
    });
  }
  await service.expectConserved();
  await service.untilMirrored();
  const { differences } = await reconcile({
    database: service.pool,
    connection: service.ledger.connection,
    addresses: createAddresses(),
  });
  expect(differences).toEqual([]);
}

describe(`${REQUESTS} concurrent requests`, () => {
  it('are all settled and mirrored for one wallet, with every credit conserved [charging.concurrent]', async () => {
    await expectAllSettled([await service.addWallet(10_000n)], 10_000n);
  });

  it('are all settled and mirrored for 20 wallets, with all credits conserved', async () => {
    const adding = Array.from({ length: 20 }, () => service.addWallet(160n));
    await expectAllSettled(await Promise.all(adding), 160n);
  });
});
