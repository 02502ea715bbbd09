import { createHash } from 'node:crypto';
import { beforeAll, expect, it } from '@jest/globals';
import { Connection, Keypair, PublicKey } from '@solana/web3.js';
import type { Page } from 'playwright-core';
import { fetchGateway, gatewaySigners } from '../../../programs/client/accounts.ts';
import { createAddresses } from '../../../programs/client/addresses.ts';
import { gatewayUpdate } from '../../../programs/client/instructions.ts';
import { parseJobId } from '../../../programs/client/jobId.ts';
import { formatReceipt, receiptMessage, sign } from '../../../programs/client/proof.ts';
import { advanceSeconds, stopClock } from '../../../testing/ledger/ledger.ts';
import { complete, describeInBrowser, type PageScene, signAndSend } from './pageScene.ts';
import { openStackKeys } from './stackKeys.ts';

/** Of its charge the treasury has the credits that an upheld dispute gives back. */
const DEAR_MODEL = 'llama-3.3-70b-instruct';
const CLIENT_TEXT = 'Another text than the proven one.';
const DISPUTE_WINDOW_SECONDS = 60;

describeInBrowser('a dispute', (openScene) => {
  let scene: PageScene;
  let client: Page;
  let arbiter: Page;
  let job: string;
  let signer: Keypair;

  beforeAll(async () => {
    scene = await openScene();
    await complete(scene.stack, { from: DEAR_MODEL });
    ({ job } = await complete(scene.stack));
    // Its dispute window lasts until a test lets it end.
    await stopClock(new Connection(scene.stack.rpcUrl, 'confirmed'));
    signer = await addSigner(scene);
    const opened = await Promise.all([
      scene.openAs('wallet', `/console/jobs/${job}`),
      scene.openAs('arbiter', '/console/arbiter'),
    ]);
    [client, arbiter] = opened.map(({ page }) => page) as [Page, Page];
  });

  it('is opened by the client and seen by the arbiter', async () => {
    await client.getByLabel('The text that you received').fill(CLIENT_TEXT);
    await client.getByRole('button', { name: 'Open a dispute' }).click();

    await client.getByText('Dispute open', { exact: true }).waitFor();
    await arbiter.reload();
    await arbiter
      .getByRole('row')
      .filter({ hasText: job.slice(-8) })
      .waitFor();
  });

  it('is judged in the page, which sends no verdict without evidence that convicts', async () => {
    await arbiter.getByRole('button', { name: job.slice(-8) }).click();
    const drawer = arbiter.getByRole('dialog', { name: job });
    await drawer.getByLabel('Verdict').selectOption('upheld_gateway');
    const decide = drawer.getByRole('button', { name: 'See what the verdict does' });
    const field = drawer.getByLabel('Delivery receipt');
    await field.fill('<b>no receipt</b>');
    await drawer.getByText('This is not a delivery receipt.').waitFor();
    expect(await decide.isDisabled()).toBe(true);
    await field.fill(receiptFor((await complete(scene.stack)).job, scene, signer));
    await drawer.getByText('The receipt was not signed for this job').waitFor();
    expect(await decide.isDisabled()).toBe(true);

    await field.fill(receiptFor(job, scene, signer));

    await drawer.getByText("signed that the client's text was delivered").waitFor();
    expect(await decide.isEnabled()).toBe(true);
  });

  it('is not decided while other disputes of its window may still be opened', async () => {
    await arbiter.getByRole('button', { name: 'See what the verdict does' }).click();

    await arbiter.getByText('The dispute window is still open.').waitFor();
    await arbiter.getByText('Nothing was sent and nothing moved.').waitFor();
    await arbiter.getByRole('button', { name: 'Cancel' }).click();
  });

  it('is upheld by the arbiter, and the client sees the credits come back without a reload', async () => {
    await client.goto(`${scene.stack.baseUrl}/console/credits`);
    const before = await readAvailable(client);
    const ledger = new Connection(scene.stack.rpcUrl, 'confirmed');
    await advanceSeconds(ledger, DISPUTE_WINDOW_SECONDS + 1);
    await arbiter.getByRole('button', { name: 'See what the verdict does' }).click();
    await arbiter.getByText('2 credits are owed to the wallet.').waitFor();
    await signAndSend(arbiter);

    await arbiter.getByText(`Decide ${job}: confirmed.`).waitFor();
    await arbiter.getByText('No open dispute').waitFor();
    const balance = client.getByRole('region', { name: 'Balance' });
    await balance.getByText(`${(before + 2n).toLocaleString('en-US')} credits`).waitFor();
    await client.goto(`${scene.stack.baseUrl}/console/jobs/${job}`);
    await client.getByRole('dialog', { name: job }).getByText('upheld').first().waitFor();
  });
});

async function readAvailable(credits: Page): Promise<bigint> {
  const balance = credits.getByRole('region', { name: 'Balance' });
  const text = (await balance.getByText(/^[\d,]+ credits/).textContent()) ?? '';
  return BigInt(text.split(' ')[0]?.replaceAll(',', '') ?? '');
}

/** What the gateway's signer gave a client that received the other text. */
function receiptFor(job: string, { stack }: PageScene, signer: Keypair): string {
  const programId = new PublicKey(stack.programId);
  const addresses = createAddresses(programId);
  const account = addresses.creditAccount(new PublicKey(stack.wallet));
  const message = receiptMessage({
    programId,
    job: addresses.job(account, parseJobId(job) ?? new Uint8Array()),
    outputHash: createHash('sha256').update(CLIENT_TEXT).digest(),
  });
  return formatReceipt(signer.publicKey, sign(message, signer));
}

/** Has the gateway's operator name one more hot signer, whose receipts then bind the gateway. */
async function addSigner({ stack }: PageScene): Promise<Keypair> {
  const ledger = new Connection(stack.rpcUrl, 'confirmed');
  const { gateway: address } = (await (
    await fetch(`${stack.baseUrl}/console/api/config`)
  ).json()) as { gateway: string };
  const gateway = await fetchGateway(ledger, new PublicKey(address), { commitment: 'confirmed' });
  if (gateway === null) throw new Error('The stack has no gateway');
  const signer = Keypair.generate();
  const signers = [...gatewaySigners(gateway), signer.publicKey];
  const update = gatewayUpdate({ operator: gateway.operator, signers, stopped: false });
  await (await openStackKeys(stack)).submit('gateway operator', [update]);
  return signer;
}
