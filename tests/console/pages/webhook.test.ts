import { afterAll, beforeAll, expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { execute } from '../../../testing/database/database.ts';
import { type Receiver, startReceiver } from '../../../testing/indexer/receiver.ts';
import { createStory } from '../../../testing/story.ts';
import { until } from '../../../testing/until.ts';
import { complete } from '../../stack/startedStack.ts';
import { describeInBrowser, type OpenPage, type PageScene } from './pageScene.ts';

const HOSTILE = '<img src=x onerror="alert(1)"><script>alert(2)</script>';

/** Each test goes on where the one before it ended. */
describeInBrowser('a webhook in the web app', (openScene) => {
  const it = createStory();
  let scene: PageScene;
  let receiver: Receiver;
  let opened: OpenPage;
  let page: Page;

  beforeAll(async () => {
    scene = await openScene();
    receiver = await startReceiver();
    opened = await scene.openAs('wallet', '/console/settings');
    page = opened.page;
  });

  afterAll(() => receiver?.close());

  const sent = (event: string) =>
    receiver.received.map(({ body }) => JSON.parse(body)).filter((one) => one.event === event);
  const button = (name: string) => page.getByRole('button', { name, exact: true });

  it('is made in Settings, and its secret is shown once', async () => {
    await page.getByLabel('Threshold in credits').fill('45');
    await button('Save').click();
    await page.getByText('Saved: it fires below 45 credits').waitFor();
    await button('Add a webhook').click();
    await page.getByText('The balance fell below 45 credits.').waitFor();
    expect(await page.getByLabel('job.completed').isChecked()).toBe(true);
    await page.getByLabel('Endpoint').fill(`${receiver.url}?to=${encodeURIComponent(HOSTILE)}`);
    await button('Add it').click();
    const dialog = page.getByRole('dialog', { name: "The webhook's secret" });

    expect(await dialog.locator('code').first().textContent()).toMatch(/^whsec_/);
    await dialog.getByRole('button', { name: 'I have kept it' }).click();
  });

  it('shows a failed delivery with five attempts, and answers as text', async () => {
    receiver.answer = (response) => void response.writeHead(500).end(HOSTILE);
    await complete(scene.stack);
    await page.getByRole('link', { name: receiver.url }).click();
    await page.getByText('active, failing').waitFor();
    await page.getByText(/^\d of the last \d attempts?$/).waitFor();
    await page.getByText('Next attempt').waitFor();
    await until(async () => {
      await execute(
        scene.stack.databaseUrl,
        `update service.webhook_deliveries set due_at = clock_timestamp()
         where status = 'pending' and due_at > clock_timestamp()`,
      );
      return (await page.getByText('It failed five times for one event').count()) === 1;
    });
    await button('job.completed').click();

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
    await button('Enable').click();
    await button('Disable').waitFor();
    await button('job.completed').click();
    await button('Send it again').click();

    const drawer = page.getByRole('dialog', { name: 'job.completed' });
    await drawer.getByText('delivered', { exact: true }).waitFor();
    expect(receiver.received.length).toBeGreaterThan(before);
    await page.keyboard.press('Escape');
    await page.getByText(/It failed five times/).waitFor({ state: 'detached' });
  });

  it('finds the events of a job, and sends all that match again', async () => {
    const [first] = sent('job.completed');
    const before = receiver.received.length;
    await page.goto(`${scene.stack.baseUrl}/console/settings`);
    await page.getByRole('link', { name: 'Events', exact: true }).click();
    await page.getByLabel('Event or job id').fill(first.data.job_id);
    await until(async () => (await page.getByRole('button', { name: /^job/ }).count()) === 1);
    await page.getByLabel('Choose all that match').check();
    await button('Send all that match again').click();

    await page.getByText('1 event is sent again.').waitFor();
    await until(() => receiver.received.length === before + 1);
    expect(JSON.parse(receiver.received.at(-1)?.body ?? '')).toEqual(first);
    await button('job.completed').click();
    const drawer = page.getByRole('dialog', { name: 'job.completed' });
    await drawer.getByText('thank you').first().waitFor();
    const headers = await drawer
      .getByRole('region', { name: 'Headers of the last attempt' })
      .textContent();
    expect(headers).toContain(`Svc-Event-Id: ${first.id}`);
    expect(headers).not.toMatch(/signature/i);
    expect(opened.complaints).toEqual([]);
  });
});
