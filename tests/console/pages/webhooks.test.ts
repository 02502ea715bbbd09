import { afterAll, beforeAll, expect, it } from '@jest/globals';
import pg from 'pg';
import type { Page } from 'playwright-core';
import { type Receiver, startReceiver } from '../../../testing/indexer/receiver.ts';
import { until } from '../../../testing/until.ts';
import { complete, describeInBrowser, type OpenPage, type PageScene } from './pageScene.ts';

const HOSTILE = '<img src=x onerror="alert(1)"><script>alert(2)</script>';

/** Each test goes on where the one before it ended. */
describeInBrowser('a webhook in the web app', (openScene) => {
  let scene: PageScene;
  let receiver: Receiver;
  let database: pg.Client;
  let opened: OpenPage;
  let page: Page;
  const dialogs: string[] = [];

  beforeAll(async () => {
    scene = await openScene();
    receiver = await startReceiver();
    database = new pg.Client(scene.stack.databaseUrl);
    await database.connect();
    opened = await scene.openAs('wallet', '/console/settings');
    page = opened.page;
    page.on('dialog', (dialog) => {
      dialogs.push(dialog.message());
      void dialog.dismiss();
    });
  });

  afterAll(async () => {
    await database?.end();
    await receiver?.close();
  });

  const sent = (event: string) =>
    receiver.received.map(({ body }) => JSON.parse(body)).filter((one) => one.event === event);
  const saveThreshold = async (credits: string) => {
    await page.goto(`${scene.stack.baseUrl}/console/settings`);
    await page.getByLabel('Threshold in credits').fill(credits);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText(/^Saved: it fires below .* and is armed\.$/).waitFor();
  };

  it('is made in Settings, and its secret is shown once', async () => {
    await page.getByRole('button', { name: 'Add a webhook' }).click();
    await page.getByLabel('Endpoint').fill(`${receiver.url}?to=${encodeURIComponent(HOSTILE)}`);
    await page.getByRole('button', { name: 'Add it' }).click();
    const dialog = page.getByRole('dialog', { name: "The webhook's secret" });

    expect(await dialog.locator('code').first().textContent()).toMatch(/^whsec_/);
    await dialog.getByRole('button', { name: 'I have kept it' }).click();
  });

  it('shows a failed delivery with its five attempts, and hostile answers as text', async () => {
    receiver.answer = (response) => void response.writeHead(500).end(HOSTILE);
    await complete(scene.stack);
    await until(async () => {
      await database.query(
        `update service.webhook_deliveries set due_at = clock_timestamp()
         where status = 'pending' and due_at > clock_timestamp()`,
      );
      const { rows } = await database.query(
        `select 1 from service.webhook_deliveries where status = 'failed'`,
      );
      return rows.length > 0;
    });
    await page.getByRole('link', { name: receiver.url }).click();
    await page.getByText('It failed five times for one event').waitFor();
    await page.getByRole('button', { name: 'job.completed' }).click();

    const drawer = page.getByRole('dialog', { name: 'job.completed' });
    await drawer.getByText('Attempt 5', { exact: true }).waitFor();
    const answer = drawer.getByRole('region', { name: 'Answer to attempt 5' });
    expect(await answer.textContent()).toContain(HOSTILE);
    expect(await page.locator('main img, [role=dialog] img').count()).toBe(0);
  });

  it('replays it from the page once it is enabled again, and it arrives [events.settings-tab]', async () => {
    receiver.answer = (response) => void response.end('thank you');
    const before = receiver.received.length;
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Enable', exact: true }).click();
    await page.getByRole('button', { name: 'Disable', exact: true }).waitFor();
    await page.getByRole('button', { name: 'job.completed' }).click();
    await page.getByRole('button', { name: 'Send it again' }).click();

    const drawer = page.getByRole('dialog', { name: 'job.completed' });
    await drawer.getByText('delivered', { exact: true }).waitFor();
    expect(receiver.received.length).toBeGreaterThan(before);
  });

  it('gets credit.low once the credits fall below the threshold of Settings', async () => {
    await saveThreshold('9,997');
    await complete(scene.stack);

    await until(async () => sent('credit.low').length === 1);
    expect(sent('credit.low')[0]?.data).toMatchObject({ threshold: 9_997 });
    await page.reload();
    await page.getByText('The alert has fired and is not armed.').waitFor();
  });

  it('gets it again after the threshold was lowered, which arms the alert anew', async () => {
    await saveThreshold('9,995');
    await complete(scene.stack);

    await until(async () => sent('credit.low').length === 2);
    expect(sent('credit.low')[1]?.data).toMatchObject({ threshold: 9_995 });
  });

  it('refuses odd amounts as a threshold with a sentence at the field', async () => {
    const field = page.getByLabel('Threshold in credits');
    for (const odd of ['-1', '1e30', '1.5', '1e3', '１００', 'x', '99999999999999']) {
      await field.fill(odd);
      await page.getByText('A whole number from 0 to 1,000,000,000,000.').waitFor();
      expect([odd, await page.getByRole('button', { name: 'Save' }).isDisabled()]).toEqual([
        odd,
        true,
      ]);
      await field.fill('1');
    }
    await saveThreshold(' 5 ');
    expect(dialogs).toEqual([]);
    expect(opened.complaints).toEqual([]);
  });
});
