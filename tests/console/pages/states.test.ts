import { afterEach, beforeAll, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { APP_PATHS } from '../../../console/routes.ts';
import { until } from '../../../testing/until.ts';
import { complete } from '../../stack/startedStack.ts';
import { answered, describeInBrowser, type PageScene, setDatabase, settle } from './pageScene.ts';

const API = '**/console/api/**';
/** Without them there is no page of a wallet to look at. */
const KNOWN = /\/console\/api\/(session|config)$/;
const READING = /^Reading .+…$/;
/** What the wallet of this test may read. */
const PATHS = APP_PATHS.filter((path) => path !== '/console/arbiter');
/** Longer than any page waits before it asks again. */
const POLLS_MS = 30_000;

describeInBrowser('pages while a part is away', (openScene) => {
  let scene: PageScene;
  let page: Page;
  let job: string;

  beforeAll(async () => {
    scene = await openScene();
    ({ job } = await complete(scene.stack));
    ({ page } = await scene.openAs('wallet', '/console'));
    await page.clock.install();
  });

  afterEach(async () => {
    await page.unrouteAll();
    await setDatabase(scene, true);
  });

  const goTo = (path: string) => page.goto(`${scene.stack.baseUrl}${path}`);
  /** Time goes on until something is so. */
  const brought = (isSo: () => Promise<boolean>) =>
    until(async () => {
      await page.clock.runFor(1_000);
      return isSo();
    });
  const pathOf = (path: string) =>
    path
      .replace(':job', job)
      .replace(':worker', '1'.repeat(32))
      .replace(/:(webhook|model)/, 'x');

  /** By the first part that failed, if one is left: each may have tried by itself before. */
  const tryAgain = () =>
    page
      .getByRole('button', { name: 'Try again' })
      .first()
      .click({ timeout: 200 })
      .catch(() => undefined);

  it.each(PATHS)('say so at once where the API refuses, and offer a try: %s', async (path) => {
    await page.route(API, (route) =>
      KNOWN.test(route.request().url()) ? route.fallback() : route.fulfill({ status: 503 }),
    );
    await goTo(pathOf(path));
    const failure = page.getByText('The service answered with status 503.').first();
    await failure.waitFor();
    // A drawer's code comes after the list has failed, and its first answer after that.
    await settle(page);

    for (let second = 0; second < POLLS_MS / 1_000; second += 1) {
      await answered(page);
      await page.clock.runFor(1_000);
      expect([await failure.isVisible(), await page.getByText(READING).count()]).toEqual([true, 0]);
    }
    await page.unrouteAll();
    await brought(async () => {
      await tryAgain();
      return (await page.getByText('The service answered with status 503.').count()) === 0;
    });
  });

  it('say so where the API does not answer at all', async () => {
    await page.route('**/console/api/status', () => undefined);
    await goTo('/console/status');

    const failure = page.getByText('The service did not answer. You may be offline.');
    await brought(() => failure.isVisible());
    await page.getByText('not known at present').waitFor();
    expect(await page.getByText('works', { exact: true }).count()).toBe(0);
  });

  it('show by Status that the database is away, open and fresh', async () => {
    const database = page.getByRole('row').filter({ hasText: /^database/ });
    await goTo('/console/status');
    await page.getByText('takes requests', { exact: true }).waitFor();
    await setDatabase(scene, false);

    await brought(() => database.getByText('away', { exact: true }).isVisible());
    await page.getByText('does not take requests').waitFor();
    await page.reload();
    await database.getByText('away', { exact: true }).waitFor();
    await setDatabase(scene, true);
    await brought(() => page.getByText('takes requests', { exact: true }).isVisible());
  });

  it('say that what they show is old while the mirror is behind', async () => {
    await page.route('**/console/api/status', async (route) => {
      const response = await route.fetch();
      const status = await response.json();
      await route.fulfill({
        response,
        json: { ...status, parts: { ...status.parts, mirror: 'away' } },
      });
    });
    await goTo('/console/credits');

    await page.getByText('Jobs and credits shown here are old.').waitFor();
  });

  it("say that the ledger's node is away where its time decides", async () => {
    const { job: newest } = await complete(scene.stack);
    await page.route(`${scene.stack.rpcUrl}/**`, (route) => route.abort());
    await goTo(`/console/jobs/${newest}`);

    await page.getByText("The ledger's node does not answer, so the time that is left").waitFor();
    await page.unrouteAll();
    await brought(async () => {
      await tryAgain();
      return page.getByLabel('The text that you received').isVisible();
    });
  });
});

const RULES = ['Pause…', 'Resume…', 'Add a model…', 'Change…', 'Retire…'];
const STOP = ['Stop it…', 'Start it…'];

describeInBrowser('a wallet', (openScene) => {
  let scene: PageScene;

  beforeAll(async () => {
    scene = await openScene();
    await complete(scene.stack);
  });

  it.each([
    ['stranger', [] as string[]],
    ['arbiter', []],
    ['gateway operator', STOP],
    ['operator', [...RULES, ...STOP]],
  ])('that is the %s has on Operator the buttons that it may use', async (name, may) => {
    const { page } = await scene.openAs(name, '/console/operator');
    await page.getByRole('heading', { name: 'Gateway' }).waitFor();
    await settle(page);

    const buttons = await page.locator('main').getByRole('button').allTextContents();
    const shown = [...RULES, ...STOP].filter((button) => buttons.includes(button));
    expect(shown).toEqual(may.filter((button) => !/Resume|Start/.test(button)));
  });

  it.each([
    ['stranger', false],
    ['arbiter', true],
  ])('that is the %s decides disputes, or is asked for none', async (name, isArbiter) => {
    const { page } = await scene.openAs(name, '/console/arbiter');

    await page
      .getByText(isArbiter ? 'No open dispute' : 'This wallet is not the arbiter.')
      .waitFor();
    expect(await page.locator('main').getByRole('button').count()).toBe(0);
  });

  it('without an account is offered no webhook', async () => {
    const { page } = await scene.openAs('arbiter', '/console/settings');

    await page.getByText('Webhooks need a credit account').waitFor();
    expect(await page.getByRole('button', { name: /webhook/ }).count()).toBe(0);
  });

  it('that ends its own session is signed out, as after a reload', async () => {
    const { page } = await scene.openAs('gateway operator', '/console/settings');
    await page.getByRole('button', { name: 'End this session' }).click();

    await page.getByRole('heading', { name: 'Sign in with your wallet' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'Sign in with your wallet' }).waitFor();
  });

  it('sees where a table goes on beside the page, until its end', async () => {
    const options = { viewport: { width: 640, height: 800 }, bypassCSP: true } as const;
    const { page } = await scene.openAs('wallet', '/console/models', options);
    const table = page.getByRole('region', { name: 'Models with prices, workers and latencies' });
    await settle(page);
    await page.getByRole('row').nth(1).scrollIntoViewIfNeeded();
    expect(await edgesOf(page)).toEqual({ left: false, right: true });
    await table.evaluate((element) => element.scrollTo(60, 0));
    expect(await edgesOf(page)).toEqual({ left: true, right: true });
    await table.evaluate((element) => element.scrollTo(element.scrollWidth, 0));
    expect(await edgesOf(page)).toEqual({ left: true, right: false });
  });
});

/** In the padding of a row, where there is no text: whether its ends are shaded. */
const SHADES = (png: string, x: number, y: number, width: number) => `(async () => {
  const image = new Image();
  image.src = 'data:image/png;base64,${png}';
  await image.decode();
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [image.width, image.height];
  const drawing = canvas.getContext('2d');
  drawing.drawImage(image, 0, 0);
  const colorAt = (x) => drawing.getImageData(x, ${y}, 1, 1).data.join();
  const middle = colorAt(${Math.round(x + width / 2)});
  return { left: colorAt(${x + 2}) !== middle, right: colorAt(${x + width - 3}) !== middle };
})()`;

async function edgesOf(page: Page): Promise<unknown> {
  const section = await page.locator('section:has(> table)').first().boundingBox();
  const row = await page.locator('tbody tr').first().boundingBox();
  if (!section || !row) throw new Error('The page has no table');
  const png = (await page.screenshot()).toString('base64');
  const [x, y, width] = [section.x, row.y + 3, section.width].map(Math.round) as [
    number,
    number,
    number,
  ];
  return page.evaluate(SHADES(png, x, y, width));
}
