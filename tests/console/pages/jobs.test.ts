import { beforeAll, expect, it } from '@jest/globals';
import pg from 'pg';
import type { BrowserContext, Page } from 'playwright-core';
import { addJobs } from '../../../bench/console/jobs.ts';
import { createPool } from '../../../common/postgres.ts';
import type { StackDescription } from '../../../stack/stackFile.ts';
import { openSignedIn, signIn } from '../../../testing/browser.ts';
import { createStory } from '../../../testing/story.ts';
import { until } from '../../../testing/until.ts';
import { complete, type Received } from '../../stack/startedStack.ts';
import {
  describeInBrowser,
  type OpenPage,
  type PageScene,
  press,
  setDatabase,
  signAndSend,
} from './pageScene.ts';

const JOBS = 3;
/** Places of bars: the first one that is chosen, and the first one behind them. */
const PULL = { from: 3, end: 6 };

describeInBrowser('the log of jobs', (openScene) => {
  let scene: PageScene;

  beforeAll(async () => {
    scene = await openScene();
    for (let made = 0; made < JOBS; made += 1) await complete(scene.stack);
  });

  it('has bars that narrow it by mouse and keyboard, and a table of them', async () => {
    const { page, complaints } = await scene.openAs('wallet', '/console/jobs');
    const table = page.getByRole('table', { name: 'Jobs', exact: true });
    const histogram = page.getByRole('region', { name: 'Jobs by time', exact: true });
    const bars = histogram.getByRole('button', { name: /settled\. Show these alone$/ });
    await bars.first().waitFor();
    const names = await bars.evaluateAll((all) => all.map((bar) => bar.getAttribute('aria-label')));
    const settled = names.map((name) => Number(/: (\d+) settled/.exec(name ?? '')?.[1]));
    expect(settled.reduce((sum, count) => sum + count, 0)).toBe(JOBS);
    const newest = settled.at(-1) ?? 0;

    await bars.last().click();

    await page.waitForURL(/since=.*&until=/);
    const since = new URL(page.url()).searchParams.get('since') ?? '';
    expect(names.at(-1)).toContain(since.replace('T', ' '));
    await until(async () => (await table.getByRole('row').count()) === 1 + newest);

    await page.reload();
    expect(await page.getByLabel('From (UTC)').inputValue()).toBe(since);
    await histogram.getByRole('button', { name: 'Every time' }).click();
    await page.waitForURL((url) => url.search === '');
    await bars.last().press('Enter');
    await page.waitForURL(/since=/);
    await histogram.getByRole('button', { name: 'As a table' }).click();
    const cells = histogram.getByRole('row').last().getByRole('cell');
    // The counts of the narrowed time come first.
    await cells.first().waitFor();
    expect(await cells.allTextContents()).toEqual([
      since.replace('T', ' '),
      String(newest),
      '0',
      '0',
      '0',
    ]);
    expect(complaints).toEqual([]);
  });

  it('returns the keyboard to the row whose job is closed', async () => {
    const { page } = await scene.openAs('wallet', '/console/jobs');
    const row = page.locator('[data-row="1"]');
    await row.getByText('settled').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Verify', exact: true }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });

    const link = row.getByRole('link');
    await until(() => link.evaluate((one) => one === one.ownerDocument.activeElement));
  });

  it('is narrowed to the bars that were pulled over, by mouse and by keyboard', async () => {
    await addOldJobs(scene.stack);
    const { page, complaints } = await scene.openAs('wallet', '/console/jobs');
    const histogram = page.getByRole('region', { name: 'Jobs by time', exact: true });
    const bars = histogram.getByRole('button', { name: /Show these alone$/ });
    await bars.nth(PULL.end).waitFor();
    const startOf = async (place: number) =>
      (await bars.nth(place).getAttribute('aria-label'))?.slice(0, 'yyyy-mm-dd hh:mm'.length) ?? '';
    const [since, before] = [await startOf(PULL.from), await startOf(PULL.end)];
    const middleOf = async (place: number) => {
      const { x = 0, y = 0, width = 0 } = (await bars.nth(place).boundingBox()) ?? {};
      return [x + width / 2, y + 10] as const;
    };
    const query = new URLSearchParams({
      since: since.replace(' ', 'T'),
      until: before.replace(' ', 'T'),
    });

    await page.mouse.move(...(await middleOf(PULL.from)));
    await page.mouse.down();
    // Who pulls does not keep to the height of a bar.
    const [x, y] = await middleOf(PULL.end - 1);
    await page.mouse.move(x, y + 150, { steps: 5 });
    await histogram.getByText(`${since} to ${before} UTC`, { exact: true }).waitFor();
    await page.mouse.up();
    await page.waitForURL((url) => url.search === `?${query}`);

    await histogram.getByRole('button', { name: 'Every time' }).click();
    await page.waitForURL((url) => url.search === '');
    await bars.nth(PULL.end).waitFor();
    await bars.nth(PULL.from).focus();
    await page.keyboard.press('Shift+ArrowLeft');
    await page.keyboard.press('Escape');
    await page.keyboard.press('ArrowRight');
    for (let place = PULL.from + 1; place < PULL.end; place += 1) {
      await page.keyboard.press('Shift+ArrowRight');
    }
    const chosen = histogram.getByRole('button', { name: `${since} to ${before}: ` });
    expect(await chosen.evaluate((bar) => bar === bar.ownerDocument.activeElement)).toBe(true);
    await page.keyboard.press('Enter');
    await page.waitForURL((url) => url.search === `?${query}`);
    expect(complaints).toEqual([]);
  });
});

/** Jobs of thirty days, so that there are bars. */
async function addOldJobs({ databaseUrl, wallet, model }: StackDescription): Promise<void> {
  const pool = createPool({ databaseUrl, applicationName: 'test' });
  await addJobs(pool, { wallet, count: 100, models: [model] });
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

/** What a page says of its origin, its cookies, and whether our API answers it. */
const REACH = `(async () => {
  const named = (work) => work.then(String, (error) => error.name);
  return [
    window.origin,
    await named(Promise.resolve().then(() => document.cookie)),
    await named(fetch('/console/api/session', { credentials: 'include' })),
  ];
})()`;

describeInBrowser('Verify in the browser', (openScene) => {
  let scene: PageScene;
  let received: Received;

  beforeAll(async () => {
    scene = await openScene();
    received = await complete(scene.stack);
  });

  const openJob = () => scene.open(`/verify/${received.job}#wallet=${scene.stack.wallet}`);
  const verdict = (page: Awaited<ReturnType<typeof openJob>>['page']) =>
    page.getByRole('status').filter({ has: page.getByRole('heading') });

  it('verifies a job with its text and receipt by the node alone', async () => {
    const { page, complaints } = await openJob();
    const asked: string[] = [];
    page.on('request', (request) => {
      const { origin, pathname } = new URL(request.url());
      if (!pathname.startsWith('/console/assets/')) asked.push(origin);
    });
    await page.getByLabel('Compare the text that I received').check();
    await page.getByLabel('Text', { exact: true }).fill(received.text);
    await page.getByLabel('Delivery receipt (optional)').fill(received.receipt);
    await page.getByRole('button', { name: 'Verify' }).click();

    await verdict(page).getByText('The job holds').waitFor();
    expect(await page.getByText('delivery.output').count()).toBe(1);
    expect(await page.getByText('delivery.receipt').count()).toBe(1);
    expect(new Set(asked)).toEqual(new Set([new URL(scene.stack.rpcUrl).origin]));
    expect(complaints).toEqual([]);
  });

  it('says of another text that the job holds, and leads with what fails', async () => {
    const { page } = await openJob();
    await page.getByLabel('Compare the text that I received').check();
    await page.getByLabel('Text', { exact: true }).fill(`${received.text} and more`);
    await page.getByRole('button', { name: 'Verify' }).click();

    await verdict(page)
      .getByText('The job holds. Your text is not the proven one.', { exact: true })
      .waitFor();
    const first = page.getByRole('region', { name: /^Checks: / }).first();
    expect(await first.getAttribute('aria-label')).toBe('Checks: What fails');
    expect(await first.locator('code').allTextContents()).toEqual(['delivery.output']);
  });

  it('compares two nodes', async () => {
    const { page } = await openJob();
    await page.getByLabel('Second node (optional)').fill(scene.stack.rpcUrl);
    await page.getByRole('button', { name: 'Verify' }).click();

    await page.getByText('Both nodes show the same').waitFor();
  });

  it('shows the command that says the same', async () => {
    const { page } = await openJob();

    const command = `npx --no svc verify ${received.job} --rpc ${scene.stack.rpcUrl}`;
    expect(await page.getByText(command).count()).toBe(1);
  });

  it('takes hostile text as text, and names a node that is away', async () => {
    const { page, complaints } = await openJob();
    await page.getByLabel('Job', { exact: true }).fill('<img src=x onerror=alert(1)>');
    await page.getByRole('button', { name: 'Verify' }).click();

    await page.getByText('is neither a job id').waitFor();
    expect(await page.locator('img').count()).toBe(0);
    await page.getByLabel("Ledger's node").fill('http://127.0.0.1:9');
    await page.getByLabel('Job', { exact: true }).fill(received.job);
    await page.getByRole('button', { name: 'Verify' }).click();

    await page.getByText('The node does not answer this page').waitFor();
    expect(complaints.filter((text) => !/127\.0\.0\.1:9/.test(text))).toEqual([]);
  });

  it('has its navigation in the document, on a narrow page too', async () => {
    const { page } = await scene.open('/verify', { javaScriptEnabled: false });
    const navigation = page.getByRole('navigation', { name: 'Pages' });
    const here = navigation.locator('[aria-current=page]');
    expect(await here.allTextContents()).toEqual(['Verify']);

    await page.setViewportSize({ width: 390, height: 844 });
    expect(await navigation.isVisible()).toBe(false);
    await page.getByRole('button', { name: 'Open the menu' }).click();
    await navigation.getByRole('link', { name: 'Models' }).click();
    await page.waitForURL(`${scene.stack.baseUrl}/console/models`);
  });

  it('leaves the navigation where it was once its script has run', async () => {
    const { page } = await openJob();
    await page.getByRole('heading', { level: 1 }).waitFor();

    expect(await page.getByRole('navigation', { name: 'Pages' }).count()).toBe(1);
    expect(await page.getByRole('main').getByRole('heading', { level: 1 }).count()).toBe(1);
    await page.getByRole('link', { name: 'Jobs' }).click();
    await page.waitForURL(`${scene.stack.baseUrl}/console/jobs`);
  });

  it('has an origin of its own: no session, no storage, and not our API', async () => {
    const { page } = await scene.openAs('wallet', '/verify');

    const reached = await page.evaluate(REACH);

    expect(reached).toEqual(['null', 'SecurityError', 'TypeError']);
  });

  it('is served and verifies while the database of the service is down', async () => {
    await setDatabase(scene, false);
    const client = new pg.Client(scene.stack.databaseUrl);
    await expect(client.connect()).rejects.toThrow('is not currently accepting connections');

    const { page, complaints } = await openJob();
    await page.getByRole('button', { name: 'Verify' }).click();

    await verdict(page).getByText('The job holds').waitFor();
    expect(complaints).toEqual([]);
  });
});
