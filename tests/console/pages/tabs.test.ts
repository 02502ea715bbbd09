import { beforeAll, expect, it } from '@jest/globals';
import type { BrowserContext, Page } from 'playwright-core';
import { openSignedIn, signIn } from '../../../testing/browser.ts';
import { until } from '../../../testing/until.ts';
import {
  describeInBrowser,
  type OpenPage,
  type PageScene,
  press,
  signAndSend,
} from './pageScene.ts';

const SIGN_IN = 'Sign in with your wallet';

describeInBrowser('two tabs of one browser', (openScene) => {
  let scene: PageScene;
  let context: BrowserContext;
  let first: Page;
  let other: OpenPage;

  beforeAll(async () => {
    scene = await openScene();
    context = await scene.browser.newContext();
    other = await scene.openIn(context, '/console/settings');
    await other.page.getByRole('heading', { name: SIGN_IN }).waitFor();
    first = await openSignedIn(context, scene.stack.baseUrl, 'wallet');
  });

  const openFirst = (path: string) => first.goto(`${scene.stack.baseUrl}${path}`);
  const threshold = (page: Page) => page.getByLabel('Threshold in credits');
  const wallet = (page: Page) =>
    page.getByRole('button', { name: "Copy your wallet's address" }).locator('..');
  const addressIn = (page: Page) => wallet(page).getAttribute('title');
  const signOut = () => first.getByRole('button', { name: 'Sign out' }).click();

  it('are signed in together', async () => {
    await other.page.getByRole('heading', { name: 'Settings', level: 1 }).waitFor();
  });

  it('show what one of them has changed, also where the stream says nothing', async () => {
    await threshold(other.page).waitFor();
    await openFirst('/console/settings');
    await threshold(first).fill('77');
    await first.getByRole('button', { name: 'Save' }).click();

    await until(async () => (await threshold(other.page).inputValue()) === '77');
  });

  it('both say how a transaction ended, and show its effect', async () => {
    await other.page.goto(`${scene.stack.baseUrl}/console/credits`);
    const limits = other.page.getByRole('region', { name: 'Who may lock your credits' });
    await limits.waitFor();
    await openFirst('/console/credits');
    await press(first, 'Change the limits…');
    await first.getByLabel('No limit per job').uncheck();
    await first.getByLabel('At most per job, in credits').fill('321');
    await press(first, 'See what it does');
    await signAndSend(first);

    await first.getByText('Change the limits: confirmed.').waitFor();
    await other.page.getByText('Change the limits: confirmed.').waitFor();
    await limits.getByText('(3.21 USDC)').waitFor();
  });

  it('keep what was entered when the session ends, and go on when one signs in again', async () => {
    await other.page.goto(`${scene.stack.baseUrl}/console/settings`);
    await threshold(other.page).fill('123');
    await openFirst('/console');
    await context.clearCookies();
    await other.page.getByRole('button', { name: 'Save' }).dispatchEvent('click');
    const dialog = other.page.getByRole('dialog', { name: 'Sign in' });
    await dialog.waitFor();
    await first.reload();
    await signIn(first, 'wallet');

    await dialog.waitFor({ state: 'detached' });
    expect(await threshold(other.page).inputValue()).toBe('123');
  });

  it('are signed out together, with nothing of the wallet left', async () => {
    await signOut();

    await other.page.getByRole('heading', { name: SIGN_IN }).waitFor();
    expect(await other.page.getByRole('link', { name: /^Credits available/ }).count()).toBe(0);
  });

  it('follow a sign-in with another wallet, and show nothing of the one before', async () => {
    await signIn(first, 'wallet');
    await threshold(other.page).waitFor();
    const before = await addressIn(other.page);
    await signOut();
    await signIn(first, 'stranger');
    await first.reload();
    await wallet(first).waitFor();

    await wallet(other.page).waitFor();
    expect(await addressIn(other.page)).toBe(await addressIn(first));
    expect(await addressIn(other.page)).not.toBe(before);
    await other.page.getByRole('button', { name: 'Create the key' }).waitFor();
  });

  it('have one theme', async () => {
    await first.keyboard.press('ControlOrMeta+k');
    await first.getByRole('combobox').fill('dark');
    await first.keyboard.press('Enter');

    await other.page.locator('html[data-theme=dark]').waitFor();
    expect(other.complaints).toEqual([]);
  });
});
