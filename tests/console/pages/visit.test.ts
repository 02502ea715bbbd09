import { beforeAll, expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { createStory } from '../../../testing/story.ts';
import { complete } from '../../stack/startedStack.ts';
import {
  brought,
  describeInBrowser,
  focused,
  type OpenPage,
  type PageScene,
  press,
  signAndSend,
  write,
} from './pageScene.ts';

/** Each test goes on where the one before it ended, as a visitor does. */
describeInBrowser('a stranger with a wallet and a keyboard', (openScene) => {
  const it = createStory();
  let scene: PageScene;
  let opened: OpenPage;
  let page: Page;
  let apiKey: string;
  let job: string;

  beforeAll(async () => {
    scene = await openScene();
    opened = await scene.openAs('stranger', '/console/credits');
    page = opened.page;
  });

  it('buys the first credits with limits, in one signature', async () => {
    await press(page, 'Buy the first credits');
    await focused(page, 'Credits');
    const proposals = () =>
      Promise.all(
        ['job', 'day'].map((period) =>
          page.getByLabel(`At most per ${period}, in credits`).inputValue(),
        ),
      );
    await write(page, 'Credits', '300');
    expect(await proposals()).toEqual(['300', '300']);
    await write(page, 'Credits', '1000');
    expect(await proposals()).toEqual(['400', '1,000']);
    await page.keyboard.press('Enter');
    await page.getByText('You then have 1,000 credits available.').waitFor();
    await page
      .getByText('This service may lock 400 credits a job and 1,000 credits a day.')
      .waitFor();
    await signAndSend(page);

    const balance = page.getByRole('region', { name: 'Balance' });
    await balance.getByText('1,000 credits').waitFor();
    await balance.getByText('10.00 USDC').waitFor();
  });

  it('makes an API key, which is shown once [keys.settings-tab]', async () => {
    await page.goto(`${scene.stack.baseUrl}/console/settings`);
    await press(page, 'Create the key');
    const dialog = page.getByRole('dialog', { name: 'Your API key' });
    apiKey = (await dialog.locator('code').first().textContent()) ?? '';
    expect(apiKey).toMatch(/^svc_live_\w+$/);
    expect(await dialog.getByRole('region', { name: 'curl code' }).textContent()).toContain(apiKey);
    await page.keyboard.press('Escape');
    await page.mouse.click(2, 2);
    expect(await dialog.isVisible()).toBe(true);
    await press(page, 'I have kept it');
    await page.reload();

    await page.getByRole('button', { name: 'Replace…' }).waitFor();
    expect(await page.content()).not.toContain(apiKey);
    const kept = 'JSON.stringify(localStorage) + JSON.stringify(sessionStorage)';
    expect(await page.evaluate(kept)).not.toContain(apiKey);
  });

  it('sees the job of the official client come and settle, without a reload', async () => {
    await page.clock.install();
    await page.goto(`${scene.stack.baseUrl}/console/jobs`);
    await page.getByText('No jobs yet').waitFor();
    ({ job } = await complete(scene.stack, { as: apiKey }));

    const row = page.getByRole('row').filter({ hasText: job.slice(-8) });
    const balance = page.getByRole('link', { name: /^Credits available/ });
    await brought(page, () => row.getByText('settled').isVisible());
    await brought(page, () => row.getByText(/^[\d,]+ ms$/).isVisible());
    await brought(page, () => balance.getByText('998 credits').isVisible());
  });

  it('opens the job and verifies it in the page', async () => {
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    const drawer = page.getByRole('dialog', { name: job });
    await drawer.getByText(/^(Acknowledged, p|P)roven/).waitFor();
    await drawer.getByText(/^By the worker \w{4}…\w{4}\./).waitFor();
    await press(page, 'Verify');

    await drawer.getByText('The job holds').waitFor();
    await page.keyboard.press('Escape');
    await drawer.waitFor({ state: 'detached' });
  });

  it('sees one row for the job, with its charge, and the last use of the key', async () => {
    await page.goto(`${scene.stack.baseUrl}/console/credits`);
    const history = page.getByRole('table', { name: 'Changes of the credit account' });
    const row = history.getByRole('row').filter({ hasText: job.slice(-8) });
    await row.waitFor();
    const cells = await row.getByRole('cell').allTextContents();
    expect(cells.slice(2, 5)).toEqual(['2', '−2998', '–0']);
    await page.goto(`${scene.stack.baseUrl}/console/settings`);
    const key = page.getByRole('region', { name: 'API key' });
    await key.getByText('Last use').waitFor();
    expect(await key.locator('dd').allTextContents()).toEqual([
      ...['active', expect.stringMatching(/^2/), expect.stringMatching(/ago$|^now$/)],
    ]);
    const sessions = page.getByRole('table', { name: 'Sessions of the wallet' });
    await sessions.getByText('Chrome on Linux').waitFor();
  });

  it('signs out, after which nothing of the wallet is left in the page', async () => {
    await press(page, 'Sign out');

    await page.getByRole('heading', { name: 'Sign in with your wallet' }).waitFor();
    expect(opened.complaints).toEqual([]);
  });
});
