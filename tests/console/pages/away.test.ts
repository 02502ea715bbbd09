import { afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import type { BrowserContext, Locator, Page } from 'playwright-core';
import { APP_PATHS } from '../../../console/routes.ts';
import { complete } from '../../stack/startedStack.ts';
import { brought, describeInBrowser, type PageScene, setDatabase, settle } from './pageScene.ts';

const API = '**/console/api/**';
/** Without them there is no page of a wallet to look at. */
const KNOWN = /\/console\/api\/(session|config)$/;
const REFUSED = 'The service answered with status 503.';
/** What the wallet of this test may read. */
const PATHS = APP_PATHS.filter((path) => path !== '/console/arbiter');

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
    await page.getByText(REFUSED).first().waitFor();
    // A drawer's code comes after the list has failed, and its first answer after that.
    await settle(page);

    await page.unrouteAll();
    await brought(page, async () => {
      await tryAgain();
      return (await page.getByText(REFUSED).count()) === 0;
    });
  });

  it('say so where the API does not answer at all', async () => {
    await page.route('**/console/api/status', () => undefined);
    await goTo('/console/status');

    const failure = page.getByText('The service did not answer. You may be offline.');
    await brought(page, () => failure.isVisible());
    await page.getByText('not known at present').waitFor();
    expect(await page.getByText('works', { exact: true }).count()).toBe(0);
  });

  it('show by Status that the database is away, open and fresh', async () => {
    const database = page.getByRole('row').filter({ hasText: /^database/ });
    await goTo('/console/status');
    await page.getByText('takes requests', { exact: true }).waitFor();
    await setDatabase(scene, false);

    await brought(page, () => database.getByText('away', { exact: true }).isVisible());
    await page.getByText('does not take requests').waitFor();
    await page.reload();
    await database.getByText('away', { exact: true }).waitFor();
    await setDatabase(scene, true);
    await brought(page, () => page.getByText('takes requests', { exact: true }).isVisible());
  });

  it('say that what they show is old while the mirror is behind', async () => {
    await page.route('**/console/api/status', async (route) => {
      const response = await route.fetch();
      const status = await response.json();
      const parts = { ...status.parts, mirror: 'away' };
      await route.fulfill({ response, json: { ...status, parts } });
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
    await brought(page, async () => {
      await tryAgain();
      return page.getByLabel('The text that you received').isVisible();
    });
  });
});

const FAILED = 'This could not be loaded. You may be offline.';
const CODE = /\/console\/assets\/.*\.js$/;

describeInBrowser('Verify', (openScene) => {
  it('is served and verifies while the database of the service is away', async () => {
    const scene = await openScene();
    const { job } = await complete(scene.stack);
    await setDatabase(scene, false);
    try {
      const { page, complaints } = await scene.open(`/verify/${job}#wallet=${scene.stack.wallet}`);
      await page.getByRole('button', { name: 'Verify' }).click();

      await page.getByRole('status').getByText('The job holds').waitFor();
      expect(complaints).toEqual([]);
    } finally {
      await setDatabase(scene, true);
    }
  });
});

describeInBrowser('a page whose code does not come', (openScene) => {
  let scene: PageScene;
  let context: BrowserContext;
  let page: Page;

  beforeAll(async () => {
    scene = await openScene();
    ({ page } = await scene.openAs('wallet', '/console'));
    context = page.context();
  });

  beforeEach(async () => {
    await page.goto(`${scene.stack.baseUrl}/console/credits`);
    // The code of the frame comes after the page's.
    await settle(page);
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

  it('says that the session cannot be read, and reads it by another try', async () => {
    await page.route('**/console/api/session', async (route) => {
      const isReaders = await page.evaluate('document.documentElement.dataset.clicked');
      await (isReaders ? route.continue() : route.fulfill({ status: 503 }));
    });
    await page.reload();
    await page.evaluate(
      "addEventListener('click', () => { document.documentElement.dataset.clicked = 'yes'; }, true)",
    );
    // It asks some more times by itself, in vain: only after the reader's click does it succeed.
    await page.getByText(REFUSED).waitFor();
    await button('Try again').click();

    await button('Buy credits…').waitFor();
  });
});
