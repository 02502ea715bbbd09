import { beforeAll, expect, it } from '@jest/globals';
import type { BrowserContext, Page } from 'playwright-core';
import { createPool } from '../../../common/postgres.ts';
import type { StackDescription } from '../../../stack/stackFile.ts';
import { openSignedIn, signIn } from '../../../testing/browser.ts';
import { insertMirroredJobs } from '../../../testing/database/jobListings.ts';
import { createStory } from '../../../testing/story.ts';
import { until } from '../../../testing/until.ts';
import { complete } from '../../stack/startedStack.ts';
import {
  brought,
  describeInBrowser,
  type OpenPage,
  type PageScene,
  press,
  settle,
  signAndSend,
} from './pageScene.ts';

/** Places of bars: the first one that is chosen, and the first one behind them. */
const CHOSEN = { from: 3, end: 6 };

const API = '/console/api';

/** As a browser does with a tab that is no longer seen, or is again. */
const setHidden = (page: Page, isHidden: boolean) =>
  page.evaluate(`
    Object.defineProperties(document, {
      hidden: { value: ${isHidden}, configurable: true },
      visibilityState: { value: '${isHidden ? 'hidden' : 'visible'}', configurable: true },
    });
    document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));
  `);

describeInBrowser('the log of jobs', (openScene) => {
  let scene: PageScene;
  let page: Page;
  let complaints: string[];
  /** What the page has asked the API for. */
  const asked: string[] = [];

  beforeAll(async () => {
    scene = await openScene();
    await addOldJobs(scene.stack);
    ({ page, complaints } = await scene.openAs('wallet', '/console/jobs'));
    page.on('request', (request) => {
      const { pathname, search } = new URL(request.url());
      if (pathname.startsWith(API)) asked.push(pathname.slice(API.length) + search);
    });
  });

  it('returns the keyboard to the row whose job is closed', async () => {
    const row = page.locator('[data-row="1"]');
    await row.getByText('settled').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Verify', exact: true }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });

    const link = row.getByRole('link');
    await until(() => link.evaluate((one) => one === one.ownerDocument.activeElement));
  });

  it('has bars that narrow it, one or several, and a table of them', async () => {
    const histogram = page.getByRole('region', { name: 'Jobs by time', exact: true });
    const bars = histogram.getByRole('button', { name: /Show these alone$/ });
    await bars.nth(CHOSEN.end).waitFor();
    const nameOf = async (place: number) =>
      (await bars.nth(place).getAttribute('aria-label')) ?? '';
    const startOf = async (place: number) =>
      (await nameOf(place)).slice(0, 'yyyy-mm-dd hh:mm'.length).replace(' ', 'T');
    const [since, before] = [await startOf(CHOSEN.from), await startOf(CHOSEN.end)];

    await bars.nth(CHOSEN.from).focus();
    await page.keyboard.press('Shift+ArrowLeft');
    await page.keyboard.press('Escape');
    await page.keyboard.press('ArrowRight');
    for (let place = CHOSEN.from + 1; place < CHOSEN.end; place += 1) {
      await page.keyboard.press('Shift+ArrowRight');
    }
    await page.keyboard.press('Enter');
    const query = new URLSearchParams({ since, until: before });
    await page.waitForURL((url) => url.search === `?${query}`);
    await page.reload();
    expect(await page.getByLabel('From (UTC)').inputValue()).toBe(since);
    await histogram.getByRole('button', { name: 'Every time' }).click();
    await page.waitForURL((url) => url.search === '');
    // Until then they are those of the narrower time.
    await until(async () => (await startOf(CHOSEN.from)) === since);
    const states = (await nameOf(CHOSEN.from)).matchAll(/(\d+) (?:settled|failed|refunded)/g);
    const count = [...states].reduce((sum, [, jobs]) => sum + Number(jobs), 0);

    await bars.nth(CHOSEN.from).click();

    await page.waitForURL(/since=/);
    expect(new URL(page.url()).searchParams.get('since')).toBe(since);
    const table = page.getByRole('table', { name: 'Jobs', exact: true });
    await until(async () => (await table.getByRole('row').count()) === 1 + count);
    await histogram.getByRole('button', { name: 'As a table' }).click();
    await histogram.getByRole('table').getByRole('cell').first().waitFor();
    expect(complaints).toEqual([]);
  });

  it('reads its first page alone again, and what is looked at does not move', async () => {
    await page.clock.install();
    await page.goto(`${scene.stack.baseUrl}/console/jobs`);
    const table = page.getByRole('table', { name: 'Jobs', exact: true });
    const count = async () => Number(await table.getAttribute('aria-rowcount'));
    const body = table.getByRole('rowgroup');
    await until(async () => (await count()) === 100);
    await body.evaluate((element) => element.scrollTo(0, element.scrollHeight));
    await until(async () => (await count()) > 100);
    await settle(page);
    const before = await count();
    const title = await table.locator('[data-row="90"] a').getAttribute('title');
    const placeOf = async () => (await table.locator(`a[title="${title}"]`).boundingBox())?.y;
    const place = await placeOf();
    asked.length = 0;

    await complete(scene.stack);
    await brought(page, async () => (await count()) > before);

    expect(new Set(asked.filter((one) => one.startsWith('/jobs')))).toEqual(
      new Set(['/jobs?limit=100']),
    );
    expect(await count()).toBe(before + 1);
    expect(await placeOf()).toBe(place);
  });

  it('asks for nothing while it is not seen, and at once when it is again', async () => {
    await settle(page);
    await setHidden(page, true);
    asked.length = 0;
    await page.evaluate(`
      new BroadcastChannel('svc.tabs').postMessage({ kind: 'changed', paths: ['/jobs', '/account'] });
      dispatchEvent(new Event('online'));
    `);
    await page.clock.runFor(60_000);
    await page.evaluate('0');
    expect(asked).toEqual([]);

    await setHidden(page, false);
    await until(() => asked.includes('/jobs?limit=100') && asked.includes('/account'));
  });

  it('asks for a sign-in once its session is over, and for nothing else', async () => {
    await page.context().clearCookies();
    const dialog = page.getByRole('dialog', { name: 'Sign in' });
    await brought(page, () => dialog.isVisible());
    // Until every part that is read again by itself has heard of it.
    await page.clock.runFor(20_000);
    await settle(page);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    asked.length = 0;

    await page.clock.runFor(60_000);
    await page.evaluate('0');

    expect(asked).toEqual([]);
    expect(await page.getByRole('link', { name: /^Credits available/ }).count()).toBe(0);
    expect(await dialog.isVisible()).toBe(false);
  });
});

const OLD_JOBS = 150;
const OLD_DAYS = 30;
const HOUR_SECONDS = 3_600;
const STATUSES = ['settled', 'settled', 'settled', 'failed', 'settled', 'refunded'] as const;

/** Jobs of thirty days, so that there are bars. Real ones are newer, and so above them. */
async function addOldJobs({ databaseUrl, wallet, model }: StackDescription): Promise<void> {
  const pool = createPool({ databaseUrl, applicationName: 'test' });
  const endSeconds = Math.floor(Date.now() / 1_000) - HOUR_SECONDS;
  const apartSeconds = (OLD_DAYS * 24 * HOUR_SECONDS) / OLD_JOBS;
  const jobs = Array.from({ length: OLD_JOBS }, (_, place) => {
    const lockedAt = Math.floor(endSeconds - (OLD_JOBS - place) * apartSeconds);
    const milliseconds = (lockedAt * 1_000).toString(16).padStart(12, '0');
    return {
      wallet,
      id: `job_${milliseconds}70008000${place.toString(16).padStart(12, '0')}`,
      lockedAt,
      status: STATUSES[place % STATUSES.length] ?? 'settled',
      model,
    };
  });
  await insertMirroredJobs(pool, jobs);
  await pool.query('analyze mirror.jobs');
  await pool.end();
}

const SIGN_IN = 'Sign in with your wallet';

describeInBrowser('two tabs of one browser', (openScene) => {
  const it = createStory();
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

  it('show what one of them has changed', async () => {
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
    await first.getByLabel('No limit for a job').uncheck();
    await first.getByLabel('At most per job, in credits').fill('321');
    await press(first, 'See what it does');
    await signAndSend(first);

    await first.getByText('Change the limits: confirmed.').waitFor();
    await other.page.getByText('Change the limits: confirmed.').waitFor();
    await limits.getByText('(3.21 USDC)').waitFor();
  });

  it('keep entries when the session ends, and go on after a new sign-in', async () => {
    await other.page.goto(`${scene.stack.baseUrl}/console/settings`);
    await threshold(other.page).fill('123');
    await openFirst('/console');
    await context.clearCookies();
    // Found by its text: the page may have noticed by then, and its dialog hides the roles behind it.
    await other.page.locator('button', { hasText: /^Save$/ }).dispatchEvent('click');
    const dialog = other.page.getByRole('dialog', { name: 'Sign in' });
    await dialog.waitFor();
    await first.reload();
    await signIn(first, 'wallet');

    await dialog.waitFor({ state: 'detached' });
    expect(await threshold(other.page).inputValue()).toBe('123');
  });

  it('are signed out together, and follow a sign-in with another wallet', async () => {
    await threshold(other.page).waitFor();
    const before = await addressIn(other.page);
    await signOut();
    await other.page.getByRole('heading', { name: SIGN_IN }).waitFor();
    expect(await other.page.getByRole('link', { name: /^Credits available/ }).count()).toBe(0);
    await signIn(first, 'stranger');
    await first.reload();
    await wallet(first).waitFor();

    await wallet(other.page).waitFor();
    expect(await addressIn(other.page)).toBe(await addressIn(first));
    expect(await addressIn(other.page)).not.toBe(before);
    await other.page.getByRole('button', { name: 'Create the key' }).waitFor();
    expect(other.complaints).toEqual([]);
  });
});
