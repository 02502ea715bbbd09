import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import OpenAI from 'openai';
import type { Page } from 'playwright-core';
import {
  chromiumPath,
  complete,
  type OpenPage,
  openPageScene,
  type PageScene,
  signAndSend,
} from './pageScene.ts';

jest.setTimeout(120_000);

const CREDITS = 1_000;

if (chromiumPath === undefined) {
  it.skip('a stranger with a wallet (NOT CHECKED: Chromium is not installed)', () => undefined);
} else {
  describeJourney(chromiumPath);
}

/** Each test goes on where the one before it ended, as a visitor does. */
function describeJourney(executablePath: string): void {
  describe('a stranger with a wallet', () => {
    let scene: PageScene;
    let opened: OpenPage;
    let page: Page;
    let apiKey: string;
    let answer: string;
    let job: string;

    beforeAll(async () => {
      scene = await openPageScene(executablePath);
      opened = await scene.openAs('stranger', '/console/credits');
      page = opened.page;
    });

    afterAll(() => scene?.close());

    it('buys the first credits with limits, in one signature', async () => {
      await page.getByRole('button', { name: 'Buy the first credits' }).click();
      await page.getByLabel('Credits', { exact: true }).fill(String(CREDITS));
      await page.getByRole('button', { name: 'See what it does' }).click();
      await page.getByText('You then have 1,000 credits available.').waitFor();
      await page.getByText('This service may lock 400 credits per job.').waitFor();
      await signAndSend(page);

      await page.getByText('Buy 1,000 credits: confirmed.').waitFor();
      const balance = page.getByRole('region', { name: 'Balance' });
      await balance.getByText('1,000 credits').waitFor();
      await balance.getByText('10.00 USDC').waitFor();
    });

    it('makes an API key, which is shown once [keys.settings-tab]', async () => {
      await page.goto(`${scene.stack.baseUrl}/console/settings`);
      await page.getByRole('button', { name: 'Create the key' }).click();
      const dialog = page.getByRole('dialog', { name: 'Your API key' });
      apiKey = (await dialog.locator('code').first().textContent()) ?? '';
      expect(apiKey).toMatch(/^svc_live_\w+$/);
      expect(await dialog.getByRole('region', { name: 'curl code' }).textContent()).toContain(
        apiKey,
      );
      await dialog.getByRole('button', { name: 'I have kept it' }).click();
      await page.reload();

      await page.getByRole('button', { name: 'Replace…' }).waitFor();
      expect(await page.content()).not.toContain(apiKey);
      const kept = await page.evaluate(
        'JSON.stringify(localStorage) + JSON.stringify(sessionStorage)',
      );
      expect(kept).not.toContain(apiKey);
    });

    it('sees the job of the official client come and settle, without a reload', async () => {
      await page.goto(`${scene.stack.baseUrl}/console/jobs`);
      await page.getByText('No jobs yet').waitFor();
      ({ job, text: answer } = await complete(scene.stack, { as: apiKey }));

      const row = page.getByRole('row').filter({ hasText: job.slice(-8) });
      await row.getByText('settled').waitFor();
      await page
        .getByRole('link', { name: /^Credits available/ })
        .getByText('998')
        .waitFor();
    });

    it('opens the job by keyboard and verifies it in the page', async () => {
      await page.locator('h1').click();
      await page.keyboard.press('j');
      await page.keyboard.press('Enter');
      const drawer = page.getByRole('dialog', { name: job });
      await drawer.getByText('Proven', { exact: true }).waitFor();
      await drawer.getByRole('button', { name: 'Verify' }).click();

      await drawer.getByText('The job holds').waitFor();
      await page.keyboard.press('Escape');
      await drawer.waitFor({ state: 'detached' });
    });

    it('cannot dispute the proven text, and disputes another within the window', async () => {
      await page.goto(`${scene.stack.baseUrl}/console/jobs/${job}`);
      const drawer = page.getByRole('dialog', { name: job });
      const text = drawer.getByLabel('The text that you received');
      await text.fill(answer);
      await drawer.getByText('there is nothing to dispute').waitFor();
      expect(await drawer.getByRole('button', { name: 'Open a dispute' }).isDisabled()).toBe(true);
      await text.fill('<script>alert(1)</script>');
      await drawer.getByRole('button', { name: 'Open a dispute' }).click();

      await drawer.getByText('Dispute open', { exact: true }).waitFor();
    });

    it('asks in the playground and verifies the answer', async () => {
      await page.goto(`${scene.stack.baseUrl}/console/playground`);
      await page.getByLabel('Message').fill('Say hello.');
      await page.getByLabel('At most so many tokens').fill('24');
      await page.getByRole('button', { name: 'Send' }).click();
      await page.getByRole('button', { name: 'Verify this answer' }).click();

      await page.getByText('The job holds').waitFor();
      expect(await page.getByText('delivery.output').count()).toBe(1);
    });

    it('stops the spender, after which requests are refused', async () => {
      await page.goto(`${scene.stack.baseUrl}/console/credits`);
      await page.getByRole('button', { name: 'Stop the spender…' }).click();
      await signAndSend(page);

      await page.getByText('Nobody but your wallet may lock credits').waitFor();
      const client = new OpenAI({ baseURL: `${scene.stack.baseUrl}/v1`, apiKey, maxRetries: 0 });
      const refused = client.chat.completions.create({
        model: scene.stack.model,
        messages: [{ role: 'user', content: 'Say hello.' }],
      });
      await expect(refused).rejects.toMatchObject({ status: 403 });
    });

    it('withdraws what is left', async () => {
      await page.getByRole('button', { name: 'Withdraw…' }).click();
      await page.getByRole('button', { name: 'See what it does' }).click();
      await page.getByText('You then have 0 credits available.').waitFor();
      await signAndSend(page);

      const balance = page.getByRole('region', { name: 'Balance' });
      await balance.getByText(/^0 credits/).waitFor();
    });

    it('signs out, after which nothing of the wallet is left in the page', async () => {
      await page.getByRole('button', { name: 'Sign out' }).click();

      await page.getByRole('heading', { name: 'Sign in with your wallet' }).waitFor();
      expect(opened.complaints).toEqual([]);
    });
  });
}
