import { beforeAll, beforeEach, expect, it } from '@jest/globals';
import type { BrowserContext, Locator, Page } from 'playwright-core';
import { openSignedIn, ready } from '../../../testing/browser.ts';
import { describeInBrowser, type PageScene } from './pageScene.ts';

const FAILED = 'This could not be loaded. You may be offline.';
const CODE = /\/console\/assets\/.*\.js$/;

describeInBrowser('a page whose code does not come', (openScene) => {
  let scene: PageScene;
  let context: BrowserContext;
  let page: Page;

  beforeAll(async () => {
    scene = await openScene();
    context = await scene.browser.newContext();
    page = await openSignedIn(context, scene.stack.baseUrl, 'wallet');
  });

  beforeEach(async () => {
    await page.goto(`${scene.stack.baseUrl}/console/credits`);
    await ready(page);
  });

  const button = (name: string) => page.getByRole('button', { name, exact: true });
  /** Fails once more, and then no more. */
  const recover = async (mend: () => Promise<void>, shown: Locator): Promise<void> => {
    await page.getByText(FAILED).waitFor();
    await button('Try again').click();
    await page.getByText(FAILED).waitFor();
    await mend();
    await button('Try again').click();
    await shown.waitFor();
    expect(await page.getByText(FAILED).count()).toBe(0);
  };

  it('leads on by another try once the browser is back', async () => {
    await context.setOffline(true);
    await page.getByRole('link', { name: 'Models' }).click();

    await recover(() => context.setOffline(false), page.getByRole('table'));
  });

  it('leads on by another try once the service answers again', async () => {
    await page.route(CODE, (route) => route.fulfill({ status: 502 }));
    await page.getByRole('link', { name: 'Workers' }).click();

    await recover(() => page.unroute(CODE), page.getByRole('table'));
  });

  it('opens a dialog by another try, and keeps the page around it', async () => {
    await context.setOffline(true);
    await button('Buy credits…').click();
    await page.getByText(FAILED).waitFor();
    await button('Close').click();
    await button('Withdraw…').click();

    await recover(() => context.setOffline(false), page.getByRole('dialog', { name: /Withdraw/ }));
  });

  it('opens the palette by another try', async () => {
    await context.setOffline(true);
    await page.keyboard.press('Control+k');

    await recover(() => context.setOffline(false), page.getByRole('combobox'));
  });

  it('says that the session cannot be read, and reads it by another try', async () => {
    const session = '**/console/api/session';
    await page.route(session, (route) => route.fulfill({ status: 503 }));
    await page.reload();
    await page.getByText('The service answered with status 503.').waitFor();
    await page.unroute(session);
    await button('Try again').click();

    await button('Buy credits…').waitFor();
  });
});
