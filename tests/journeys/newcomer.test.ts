import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Keypair, LAMPORTS_PER_SOL } from '@solana/web3.js';
import { BASE_UNITS_PER_CREDIT } from '../../programs/client/generated/constants.ts';
import { mintTo, submit } from '../../stack/operator.ts';
import { runCli } from '../../testing/cli.ts';
import { stopClock } from '../../testing/ledger/ledger.ts';
import { requestCompletion } from '../../testing/service/requestCompletion.ts';
import { type RunningService, startRunningService } from '../../testing/service/runningService.ts';
import { until } from '../../testing/until.ts';

const BOUGHT = 1_000n;
const CHARGE_CREDITS = 8n;
/** They lock 40 credits. */
const GENEROUS_TOKENS = 10_000;
let service: RunningService;

beforeAll(async () => {
  service = await startRunningService({
    apiSettings: async ({ SOLANA_RPC_URL }) => ({ SVC_CONSOLE_RPC_URL: SOLANA_RPC_URL }),
  });
  // All of it is one day.
  await stopClock(service.ledger.connection);
});

afterAll(() => service?.close());

/** A wallet that has bought credits by `svc`, which proposes its limits, and made a key. */
async function arrive(): Promise<string> {
  const wallet = Keypair.generate();
  const owner = wallet.publicKey;
  await service.ledger.fundLamports(owner, LAMPORTS_PER_SOL);
  const stablecoin = { mint: service.mints.credit, baseUnits: BOUGHT * BASE_UNITS_PER_CREDIT };
  await submit(service.operator, mintTo(service.operator, { owner, ...stablecoin }).instructions);
  const signer = JSON.stringify([...wallet.secretKey]);
  const svc = (...words: string[]) =>
    runCli([...words, '--service', service.baseUrl, '--signer', signer]);
  await svc('credits', 'buy', String(BOUGHT), '--yes');
  expect(await service.account(owner)).toMatchObject({
    ...{ limitPerJobCredits: 400n, limitPerDayCredits: BOUGHT },
  });
  return (await svc('key', 'create')).output.trim();
}

describe('a newcomer with the limits that are proposed', () => {
  it('gets all answers that 1,000 credits buy', async () => {
    const apiKey = await arrive();
    const account = () => service.get('/v1/account', apiKey);
    const ask = (body: Record<string, unknown>) =>
      requestCompletion(service, { form: 'plain', apiKey, body });
    await until(async () => (await account()).credits_remaining === Number(BOUGHT));

    const first = await ask({ max_tokens: GENEROUS_TOKENS, seed: 7 });
    const text: string = JSON.parse(first.body).choices[0].message.content;
    for (let failed = 0; failed < 3; failed += 1) {
      // It ends before its text begins, so that it fails and costs nothing.
      const stop = text.slice(0, 8);
      const empty = await ask({ max_tokens: GENEROUS_TOKENS, seed: 7, stop });
      expect(JSON.parse(empty.body).choices[0].message.content).toBe('');
    }
    await until(async () => (await account()).locked_now_credits === 0);
    expect(await account()).toMatchObject({ charged_today_credits: Number(CHARGE_CREDITS) });

    let answers = 1;
    for (let max_tokens = GENEROUS_TOKENS; max_tokens > 0; ) {
      const { status, error } = await ask({ max_tokens });
      if (status === 200) answers += 1;
      else {
        expect([status, error?.code]).toEqual([402, 'insufficient_credits']);
        max_tokens = Number(error?.details?.affordable_max_tokens);
      }
    }
    expect(answers).toBe(Number(BOUGHT / CHARGE_CREDITS));
    expect(await account()).toMatchObject({
      ...{ credits_remaining: 0, charged_today_credits: Number(BOUGHT), locked_now_credits: 0 },
    });
    await service.expectConserved();
  });
});
