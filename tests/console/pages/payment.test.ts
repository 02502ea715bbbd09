import { beforeAll, expect } from '@jest/globals';
import { ComputeBudgetProgram, Connection, PublicKey, Transaction } from '@solana/web3.js';
import type { BrowserContext, Page } from 'playwright-core';
import { fetchConfig, fetchCreditAccount } from '../../../programs/client/accounts.ts';
import { createAddresses } from '../../../programs/client/addresses.ts';
import { advanceSeconds } from '../../../testing/ledger/ledger.ts';
import { createStory } from '../../../testing/story.ts';
import { complete } from '../../stack/startedStack.ts';
import { describeInBrowser, type PageScene } from './pageScene.ts';
import { addStandardWallet, DECLINED, decline, type StandardWallet } from './standardWallet.ts';

const NOTHING = 'Nothing was sent and nothing moved.';
/** A blockhash is valid for a minute. */
const READING_SECONDS = 30;
const EXPIRY_SECONDS = 100;
/** As the stack sets its ledger up. */
const SERVICE_DISPUTES_MAX = 127;
const AT_ONCE = 8;

/** Each test goes on where the one before it ended, with a wallet that does as each one says. */
describeInBrowser('paying from the web app', (openScene) => {
  const it = createStory();
  let scene: PageScene;
  let context: BrowserContext;
  let page: Page;
  let wallet: StandardWallet;
  let ledger: Connection;
  /** What a page handed to the node; it repeats what does not land at once. */
  const sent = new Set<string | undefined>();
  let complaints: string[];

  beforeAll(async () => {
    scene = await openScene();
    ledger = new Connection(scene.stack.rpcUrl, 'confirmed');
    context = await scene.browser.newContext();
    wallet = await addStandardWallet(context, scene, 'stranger');
    context.on('request', (request) => {
      const body = request.postData() ?? '';
      if (body.includes('"sendTransaction"')) sent.add(/"params":\["([^"]+)"/.exec(body)?.[1]);
    });
    ({ page, complaints } = await scene.openIn(context, '/console/credits'));
  });

  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const says = (text: string) => page.getByText(text).waitFor();
  const see = () => button('See what it does').click();
  /** Asks to buy so many credits, until the ledger has said what it would do. */
  const askToBuy = async (credits: string) => {
    await page
      .getByRole('button', { name: /^Buy (credits…|the first credits)$/ })
      .last()
      .click();
    await page.getByLabel('Credits', { exact: true }).fill(credits);
    await see();
    await page.getByText(/^You then have/).waitFor();
  };
  const account = async () => {
    const address = createAddresses(new PublicKey(scene.stack.programId)).creditAccount(
      new PublicKey(wallet.addressOf('stranger')),
    );
    return fetchCreditAccount(ledger, address, { commitment: 'confirmed' });
  };
  const readConfig = async () => {
    const programId = new PublicKey(scene.stack.programId);
    const config = await fetchConfig(ledger, createAddresses(programId).config, {
      ...{ commitment: 'confirmed', programId },
    });
    if (!config) throw new Error('The program is not set up');
    return config;
  };
  const available = async () => (await account())?.availableCredits;
  const signIn = async () => {
    await page.getByRole('button', { name: new RegExp(wallet.name) }).click();
  };

  it('signs in by the next try after the wallet has declined one', async () => {
    wallet.answer = decline;
    await signIn();
    await says(DECLINED);
    await says('You are not signed in. Nothing was signed for any payment.');

    wallet.answer = wallet.sign;
    await signIn();
    await page.getByRole('heading', { name: 'Credits' }).waitFor();
  });

  it('sends nothing when the wallet declines, and the page states it', async () => {
    wallet.answer = decline;
    await page.getByText('One credit is 0.01 of the stablecoin with the mint').waitFor();
    await askToBuy('500');
    const { creditMint } = await readConfig();
    await says(`You pay 5.00 of the stablecoin ${creditMint} for 500 credits.`);
    await button('Sign and send').click();

    await says(`The wallet did not sign: ${DECLINED}`);
    await says(NOTHING);
    expect([sent.size, await account()]).toEqual([0, null]);
  });

  it('sends only what it asked for, signed by the signed-in wallet', async () => {
    wallet.answer = (asked) => {
      const transaction = Transaction.from(Buffer.from(asked.bytes, 'base64'));
      transaction.add(...transaction.instructions.slice(-1));
      return wallet.sign({ ...asked, bytes: wireOf(transaction) });
    };
    await button('Sign and send').click();
    await says('The wallet returned another transaction than this one.');
    wallet.answer = async ({ bytes }) => bytes;
    await button('Sign and send').click();
    await says('The wallet did not sign with the account that is signed in.');
    await says(NOTHING);
    expect([sent.size, await account()]).toEqual([0, null]);
  });

  it('signs nothing while the wallet shows another account', async () => {
    await wallet.switchTo(page, 'wallet');
    await says('The wallet shows another account than');
    expect(await button('Sign and send').isDisabled()).toBe(true);

    await wallet.switchTo(page, 'stranger');
    await page.locator('button:enabled', { hasText: 'Sign and send' }).waitFor();
  });

  it('sends nothing that the wallet signs after the dialog was cancelled', async () => {
    const late = Promise.withResolvers<void>();
    const answered = Promise.withResolvers<void>();
    wallet.answer = async (asked) => {
      answered.resolve();
      await late.promise;
      return wallet.sign(asked);
    };
    await button('Sign and send').click();
    await answered.promise;
    await button('Cancel').click();
    wallet.answer = wallet.sign;
    await askToBuy('500');
    late.resolve();

    expect(await button('Sign and send').isEnabled()).toBe(true);
    expect([sent.size, await account()]).toEqual([0, null]);
  });

  it('waits half a minute, and takes the wallet’s priority fee', async () => {
    wallet.answer = async (asked) => {
      await advanceSeconds(ledger, READING_SECONDS);
      const transaction = Transaction.from(Buffer.from(asked.bytes, 'base64'));
      transaction.instructions.unshift(
        ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 10 }),
      );
      return wallet.sign({ ...asked, bytes: wireOf(transaction) });
    };
    await button('Sign and send').click();

    await says('Buy 500 credits: confirmed.');
    expect([sent.size, await available()]).toEqual([1, 500n]);
    // The page reads the account from the mirror, which follows the ledger.
    await button('Buy credits…').waitFor();
    wallet.answer = wallet.sign;
  });

  it('says that it was signed too late, and signs again by one click', async () => {
    await askToBuy('100');
    wallet.answer = async (asked) => {
      await advanceSeconds(ledger, EXPIRY_SECONDS);
      return wallet.sign(asked);
    };
    await button('Sign and send').click();
    await says('It was signed too late: the ledger waits for half a minute. Sign it again.');
    await says(NOTHING);
    wallet.answer = wallet.sign;
    await button('Sign again').click();
    await says('Buy 100 credits: confirmed.');
    expect(await available()).toBe(600n);
  });

  it('says before the wallet is asked that the node does not answer', async () => {
    const asked = wallet.asked.length;
    await askToBuy('300');
    await context.setOffline(true);
    await says('You are offline.');
    await button('Sign and send').click();

    await says("The ledger's node does not answer.");
    await says(NOTHING);
    await context.setOffline(false);
    expect(wallet.asked.length).toBe(asked);
  });

  it('keeps an unsent transaction, which no other tab signs until then', async () => {
    await context.route(`${scene.stack.rpcUrl}/**`, (route) =>
      route.request().postData()?.includes('"sendTransaction"') ? route.abort() : route.continue(),
    );
    const asked = wallet.asked.length;
    const other = await scene.openIn(context, '/console/credits');
    await button('Sign and send').click();
    await says('Buy 300 credits: sent as');

    const before = page;
    for (const tab of [other.page, before]) {
      page = tab;
      await page.reload();
      await says('Buy 300 credits: sent as');
      await askToBuy('300');
      await says('The same is on its way already.');
      expect(await button('Sign and send').isDisabled()).toBe(true);
      await button('Cancel').click();
    }
    await other.page.close();
    expect([wallet.asked.length, await available()]).toEqual([asked + 1, 600n]);
    await context.unroute(`${scene.stack.rpcUrl}/**`);

    await says('Buy 300 credits: confirmed.');
    expect(await available()).toBe(900n);
  });

  it('reports a transaction that expired while the browser was offline', async () => {
    await askToBuy('200');
    wallet.answer = async (asked) => {
      await context.setOffline(true);
      return wallet.sign(asked);
    };
    await button('Sign and send').click();
    await says('Buy 200 credits: sent as');
    await advanceSeconds(ledger, EXPIRY_SECONDS);
    await context.setOffline(false);
    wallet.answer = wallet.sign;

    await says('Buy 200 credits: it expired and can never land.');
    const asked = wallet.asked.length;
    await button('Sign again').click();
    await says('Buy 200 credits: confirmed.');
    expect([wallet.asked.length, await available()]).toEqual([asked + 1, 1_100n]);
    expect(await button('Sign again').count()).toBe(0);
  });

  it('withdraws no more than there is and, when the wallet declines, nothing', async () => {
    await button('Withdraw…').click();
    const field = page.getByLabel('Credits', { exact: true });
    await field.fill('1,101');
    await says('Credits: a whole number from 1 to 1,100.');
    expect(await button('See what it does').isDisabled()).toBe(true);
    await field.fill('400');
    await field.press('Enter');
    await says('You then have 700 credits available.');
    wallet.answer = decline;
    await button('Sign and send').click();
    await says(`The wallet did not sign: ${DECLINED}`);
    await says(NOTHING);
    expect(await available()).toBe(1_100n);

    wallet.answer = wallet.sign;
    await button('Sign and send').click();
    await says('Withdraw 400 credits: confirmed.');
    expect(await available()).toBe(700n);
  });

  it('stops the spender, and then withdraws what is left', async () => {
    await button('Stop the spender…').click();
    await button('Sign and send').click();
    await says('Only your wallet may lock credits');
    await button('Withdraw…').click();
    await see();
    await says('You then have 0 credits available.');
    await button('Sign and send').click();
    await says('Withdraw 700 credits: confirmed.');

    expect(await account()).toMatchObject({ availableCredits: 0n, spender: PublicKey.default });
    expect(complaints).toEqual([]);
  });

  it('disputes by the own signature where the service opens no more', async () => {
    let left = SERVICE_DISPUTES_MAX;
    const disputeAll = async () => {
      while (left-- > 0) await disputeByService(scene);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, disputeAll));
    const { job } = await complete(scene.stack);
    const own = await scene.browser.newContext();
    const holder = await addStandardWallet(own, scene, 'wallet');
    ({ page } = await scene.openIn(own, `/console/jobs/${job}`));
    await signIn();
    await page.getByLabel('The text that you received').fill('Another text.');
    await button('Open a dispute').click();
    await says('No dispute was opened. The charge stands as it was.');
    await button('Open it by your own signature…').click();
    await says('The ledger notes that you received another text than the proven one.');
    holder.answer = decline;
    await button('Sign and send').click();
    await says(`The wallet did not sign: ${DECLINED}`);
    await says(NOTHING);

    holder.answer = holder.sign;
    await button('Sign and send').click();
    await says(`Dispute ${job}: confirmed.`);
    await page.getByRole('dialog', { name: job }).getByText('Your text').waitFor();
    expect(await page.getByLabel('The text that you received').count()).toBe(0);
  });
});

/** Has the service dispute a new job of the stack's wallet, as a client of /v1 does. */
async function disputeByService({ stack }: PageScene): Promise<void> {
  const { job } = await complete(stack);
  const response = await fetch(`${stack.baseUrl}/v1/jobs/${job}/dispute`, {
    method: 'POST',
    headers: { authorization: `Bearer ${stack.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ received_output_hash: `sha256:${'0'.repeat(64)}` }),
  });
  if (!response.ok) throw new Error(await response.text());
}

const wireOf = (transaction: Transaction) =>
  transaction.serialize({ verifySignatures: false }).toString('base64');
