import { beforeAll, expect, it } from '@jest/globals';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { APP_PAGES, APP_PATHS, type AppPage, SIGN_IN_HEAD } from '../../../console/routes.ts';
import { openSignedIn, PAGE_WAIT_MS_MAX, ready } from '../../../testing/browser.ts';
import { until } from '../../../testing/until.ts';
import { describeInBrowser, type PageScene } from './pageScene.ts';

const WIDTHS = [1280, 390];
/** The others have a title that is not known before something is read. */
const PATHS = APP_PATHS.filter((path) => !path.includes(':'));
const headOf = (path: (typeof PATHS)[number]) => (APP_PAGES[path] as AppPage).head;

describeInBrowser('documents of the pages', (openScene) => {
  let scene: PageScene;
  let browser: Browser;
  let signedIn: BrowserContext;
  let signedOut: BrowserContext;

  beforeAll(async () => {
    scene = await openScene();
    ({ browser } = scene);
    signedOut = await browser.newContext();
    signedIn = await browser.newContext();
    await openSignedIn(signedIn, scene.stack.baseUrl, 'wallet');
  });

  /** At each width, the heading and the sentence below it, with where they stand in the pages' own font. */
  async function lookAt(page: Page): Promise<{ width: number; found: unknown }[]> {
    await until(() => page.evaluate(`document.fonts.check('1em "Geist Variable"')`));
    const looks = [];
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 800 });
      const found = await page.locator('main h1, main h1 + p').evaluateAll((elements) =>
        elements.map((element) => {
          const { x, y, width, height } = element.getBoundingClientRect();
          return { text: element.textContent, x, y, width, height };
        }),
      );
      looks.push({ width, found });
    }
    return looks;
  }

  /** The same as it stands without script, and as the app draws it. */
  async function lookTwice(reader: BrowserContext, path: string) {
    const storageState = await reader.storageState();
    const bare = await browser.newContext({ javaScriptEnabled: false, storageState });
    for (const context of [bare, reader]) context.setDefaultTimeout(PAGE_WAIT_MS_MAX);
    const still = await bare.newPage();
    await still.goto(`${scene.stack.baseUrl}${path}`);
    const before = await lookAt(still);
    await bare.close();
    const page = await reader.newPage();
    await page.goto(`${scene.stack.baseUrl}${path}`);
    await ready(page);
    const after = await lookAt(page);
    const title = await page.title();
    await page.close();
    return { before, after, title };
  }

  it.each(PATHS)('have title and lead of %s where the app draws them', async (path) => {
    const { title, lead } = headOf(path) ?? {};
    const looks = await lookTwice(signedIn, path);

    for (const { found } of looks.before) {
      expect(found).toMatchObject([{ text: title }, { text: lead }]);
    }
    expect(looks.after).toEqual(looks.before);
    expect(looks.title).toBe(`${title} · svc`);
  });

  it('ask for a sign-in at once where there is no session, and keep it there', async () => {
    const { before, after } = await lookTwice(signedOut, '/console/credits');

    for (const { found } of before) {
      expect(found).toMatchObject([{ text: SIGN_IN_HEAD.title }, { text: SIGN_IN_HEAD.lead }]);
    }
    expect(after).toEqual(before);
  });
});
