import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { beforeAll, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { ready } from '../../testing/browser.ts';
import { until } from '../../testing/until.ts';
import { describeInBrowser, type PageScene } from '../console/pages/pageScene.ts';
import { PAGES } from './servedDocs.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const FOUND_BY_AXE = `axe.run(document).then(({ violations }) => violations.flatMap(({ id, nodes }) =>
  nodes.map(({ html, failureSummary }) => id + ': ' + html.slice(0, 160) + ' ' + failureSummary)))`;
const PATHS = [...PAGES.map(([path]) => path), '/docs/search?q=dispute', '/docs/webhoks'];
const WIDTHS = [1280, 390, 320];

/** What is wider than its place without a way to scroll, as `axe` does not see it. */
const WIDER = `(() => {
  const wide = [...document.querySelectorAll('body *')].filter((element) => {
    if (element.closest('.offscreen, .skip, svg, [hidden]')) return false;
    for (let box = element; box; box = box.parentElement) {
      if (/auto|scroll/.test(getComputedStyle(box).overflowX)) return false;
    }
    return element.getBoundingClientRect().right > innerWidth + 1;
  });
  return [
    ...(document.documentElement.scrollWidth > innerWidth ? ['scrolls sideways'] : []),
    ...wide.map((element) => element.outerHTML.slice(0, 120)),
  ];
})()`;

describeInBrowser('the documentation', (openScene) => {
  let scene: PageScene;
  let page: Page;
  let complaints: string[];

  beforeAll(async () => {
    scene = await openScene();
    ({ page, complaints } = await scene.open('/docs'));
  });

  const goTo = (path: string) => page.goto(`${scene.stack.baseUrl}${path}`);
  const field = () => page.getByRole('searchbox', { name: 'Search the documentation' });
  const pathNow = () => {
    const { pathname, hash } = new URL(page.url());
    return pathname + hash;
  };

  it.each(PATHS)('passes axe and scrolls only inside, in any width and theme: %s', async (path) => {
    // The policy of the pages refuses the script of a test.
    const opened = await scene.open(path, { bypassCSP: true, reducedMotion: 'reduce' });
    await opened.page.evaluate(AXE);
    const faults: unknown[] = [];
    for (const colorScheme of ['light', 'dark'] as const) {
      for (const width of WIDTHS) {
        await opened.page.emulateMedia({ colorScheme });
        await opened.page.setViewportSize({ width, height: 800 });
        const found = [
          ...((await opened.page.evaluate(WIDER)) as string[]),
          ...((await opened.page.evaluate(FOUND_BY_AXE)) as string[]),
        ];
        faults.push(...found.map((fault) => `${colorScheme} ${width}: ${fault}`));
      }
    }
    expect(faults).toEqual([]);
    expect(opened.complaints).toEqual([]);
    await opened.page.context().close();
  });

  it('is searched by keyboard alone', async () => {
    await goTo('/docs');
    await page.keyboard.press('/');
    await page.keyboard.type('disputing a charge');
    await page
      .getByRole('status')
      .getByText(/Results: [1-9]/)
      .waitFor({ state: 'attached' });
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await until(async () => pathNow() === '/docs/verify#disputing-a-charge');
    await page.waitForLoadState();
    await page.keyboard.press('/');
    await page.keyboard.type('webhook');
    await page.getByRole('listitem').getByText('webhook').first().waitFor();
    await page.keyboard.press('Escape');
    expect(await page.locator('.results').isVisible()).toBe(false);
    expect(complaints).toEqual([]);
  });

  it('shows no results that come after the keyboard has left the search', async () => {
    const { page: slow } = await scene.open('/docs');
    const answer = Promise.withResolvers<void>();
    await slow.route('**/docs/search.json', async (route) => {
      await answer.promise;
      await route.continue();
    });
    await slow.keyboard.press('/');
    await slow.keyboard.type('webhook');
    await slow.keyboard.press('Tab');
    answer.resolve();
    await slow.evaluate("fetch('/docs/search.json').then((index) => index.json())");
    expect(await slow.locator('.results').isVisible()).toBe(false);
    await slow.context().close();
  });

  it('opens its pages where there is no room for them beside the text', async () => {
    await page.setViewportSize({ width: 390, height: 800 });
    await goTo('/docs');
    const pages = page.getByRole('navigation', { name: 'Documentation' });
    expect(await pages.isVisible()).toBe(false);
    await page.getByRole('button', { name: 'Menu' }).click();
    await pages.getByRole('link', { name: '3. A key' }).click();
    await until(async () => !(await pages.isVisible()));
    expect(pathNow()).toBe('/docs#3-a-key');
    await page.setViewportSize({ width: 1280, height: 800 });
  });

  it('is in the typeface of the web app', async () => {
    await goTo('/docs/models');
    // How many faces are loaded differs: some characters come from what the machine has.
    const loaded =
      'document.fonts.ready.then((faces) => [...faces].filter(({ status }) => status === "loaded").map(({ family }) => family))';
    expect(await page.evaluate(loaded)).toContain('Geist Variable');
    expect(await page.evaluate('getComputedStyle(document.body).fontFamily')).toMatch(
      /^"Geist Variable"/,
    );
  });

  it('leads to the web app and back, and the root to its first page', async () => {
    await goTo('/docs/errors');
    await page.getByRole('link', { name: 'Web app' }).click();
    await ready(page);
    await page.getByRole('link', { name: 'Documentation' }).click();
    await until(async () => pathNow() === '/docs');
    await page.getByRole('link', { name: 'svc', exact: true }).click();
    await ready(page);
    await until(async () => pathNow() === '/console');
    await page.getByRole('heading', { level: 1, name: 'Inference that anybody' }).waitFor();
    expect(complaints).toEqual([]);
  });

  it('is what a mistyped address leads to', async () => {
    await goTo('/consol/jobs');
    await page.getByRole('heading', { name: 'There is no such page' }).waitFor();
    await page.getByRole('link', { name: '/console/jobs' }).waitFor();
    await field().fill('usage');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Search', level: 1 }).waitFor();
  });
});
