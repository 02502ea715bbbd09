import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Keypair, PublicKey } from '@solana/web3.js';
import { fetchWorker, workerEndpoint } from '../../programs/client/accounts.ts';
import { workerUpdate } from '../../programs/client/instructions.ts';
import {
  associatedTokenAddress,
  tokenAccountCreate,
} from '../../programs/client/token/instructions.ts';
import { submit } from '../../stack/operator.ts';
import { readTokenAccount } from '../../testing/ledger/tokens.ts';
import { untilDispatched, untilEnded } from '../../testing/ledger/walletBooks.ts';
import { type GatedService, startGatedService } from '../../testing/service/gatedService.ts';
import { FORMS, openCompletion, readAnswer } from '../../testing/service/requestCompletion.ts';
import { answerInTwoParts } from '../../testing/workers/engines.ts';

const CREDITS = 100n;
/** Of the 16 credits that both forms cost. */
const WORKER_BASE_UNITS = 16n * 8_500n;

let service: GatedService;

beforeAll(async () => {
  service = await startGatedService();
});

afterEach(() => service.databaseGate.thaw());

afterAll(() => service?.close());

/** Has the worker paid into a new token account from now on. */
async function changePayout(): Promise<PublicKey> {
  const { ledger, operator, workers } = service;
  const [{ address, authority, proofKey, payout }] = workers as [(typeof workers)[0]];
  const { mint } = await readTokenAccount(ledger.connection, payout);
  const owner = Keypair.generate().publicKey;
  const changed = associatedTokenAddress(mint, owner);
  const found = await fetchWorker(ledger.connection, new PublicKey(address));
  if (!found) throw new Error('the worker is not registered');
  const update = workerUpdate({
    ...{ authority: authority.publicKey, payout: changed, proofKey },
    endpoint: workerEndpoint(found),
  });
  const create = tokenAccountCreate({ payer: operator.authority.publicKey, owner, mint });
  await submit(operator, [create, update], [authority]);
  return changed;
}

describe('a worker that changes its payout account during a job', () => {
  it('is paid at the new account, even before the mirror shows the change', async () => {
    const { address, apiKey } = await service.addWallet(CREDITS);
    const end = answerInTwoParts(service.engine);
    const asking = FORMS.map((form) => openCompletion(service, { form, apiKey }));
    await untilDispatched(service, address, FORMS.length);
    service.databaseGate.freeze();
    const payout = await changePayout().finally(end);
    const settled = { status: 'settled', reason: 'none', charged: 8n };
    const ending = untilEnded(service, address, FORMS.length);
    expect(await service.time.advanceUntil(ending)).toMatchObject({
      jobs: [settled, settled],
    });
    service.databaseGate.thaw();
    for (const response of asking) {
      expect(await readAnswer(await response)).toMatchObject({ status: 200, error: undefined });
    }
    const { amount } = await readTokenAccount(service.ledger.connection, payout);
    expect(amount).toBe(WORKER_BASE_UNITS);
    await service.expectConserved();
  });
});
