import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { PublicKey } from '@solana/web3.js';
import { reconcile } from '../../indexer/reconcile/reconcile.ts';
import { isEnded } from '../../programs/client/accounts.ts';
import { createAddresses } from '../../programs/client/addresses.ts';
import { type RunningService, startRunningService } from '../../testing/service/runningService.ts';

const REQUESTS = 200;
const SETTLED = 'settled';
const FAILED = 'failed';
/** The local ledger takes some ten transactions a second on a busy machine. */
const TIMEOUT_MS = 300_000;
let service: RunningService;

beforeEach(async () => {
  service = await startRunningService({ workers: ['honest', 'honest'], credits: 10_000n });
});

afterEach(() => service.close());

/** Half of them streamed; each with its own body, so that none is taken for a repeat. */
async function ask(apiKey: string, index: number): Promise<void> {
  const body = {
    model: service.model.id,
    messages: [{ role: 'user' as const, content: `Request ${index}.` }],
  };
  // A 503 before a lock is safe to repeat, and the official client does so by itself.
  const client = service.openai({ apiKey, maxRetries: 20 });
  if (index % 2 === 0) {
    await client.chat.completions.create(body);
    return;
  }
  const stream = await client.chat.completions.create({ ...body, stream: true });
  for await (const _chunk of stream);
}

/** Every answer is a settled job; a lock that came too late for its request was taken back. */
async function expectAllSettled(answers: number): Promise<void> {
  const jobs = await service.untilJobs(
    (found) =>
      found.filter(({ data }) => data.status === SETTLED).length === answers &&
      found.every(({ data }) => isEnded(data.status)),
  );
  for (const { data } of jobs) {
    expect([data.status, data.chargedCredits]).toEqual(
      data.status === SETTLED ? [SETTLED, 8n] : [FAILED, 0n],
    );
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
  it(
    'of one wallet are all settled, conserve every credit, and reach the mirror [charging.concurrent]',
    async () => {
      await Promise.all(Array.from({ length: REQUESTS }, (_, index) => ask(service.apiKey, index)));
      await expectAllSettled(REQUESTS);
      const account = await service.account();
      expect(account.availableCredits).toBe(service.boughtCredits - BigInt(REQUESTS) * 8n);
      expect(account.lockedCredits).toBe(0n);
    },
    TIMEOUT_MS,
  );

  it(
    'of 20 wallets are all settled, conserve every credit, and reach the mirror',
    async () => {
      const wallets: { address: PublicKey; apiKey: string }[] = [];
      for (let index = 0; index < 20; index += 1) wallets.push(await service.addWallet(160n));
      await Promise.all(
        Array.from({ length: REQUESTS }, (_, index) =>
          ask(wallets[index % wallets.length]?.apiKey as string, index),
        ),
      );
      await expectAllSettled(REQUESTS);
      for (const { address } of wallets) {
        const { availableCredits, lockedCredits } = await service.account(address);
        expect({ availableCredits, lockedCredits }).toEqual({
          availableCredits: 80n,
          lockedCredits: 0n,
        });
      }
    },
    TIMEOUT_MS,
  );
});
