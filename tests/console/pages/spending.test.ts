import { afterAll, beforeAll, expect } from '@jest/globals';
import OpenAI from 'openai';
import pg from 'pg';
import type { Page } from 'playwright-core';
import { type Receiver, startReceiver } from '../../../testing/indexer/receiver.ts';
import { createStory } from '../../../testing/story.ts';
import { until } from '../../../testing/until.ts';
import { complete } from '../../stack/startedStack.ts';
import {
  describeInBrowser,
  focused,
  type OpenPage,
  type PageScene,
  press,
  signAndSend,
  write,
} from './pageScene.ts';

const CREDITS = 1_000;

/** Each test goes on where the one before it ended, as a visitor does. */
describeInBrowser('a stranger with a wallet and a keyboard', (openScene) => {
  const it = createStory();
  let scene: PageScene;
  let opened: OpenPage;
  let page: Page;
  let apiKey: string;
  let answer: string;
  let job: string;
  /** How the service answered the page that asked for a stream. */
  const streams: number[] = [];

  beforeAll(async () => {
    scene = await openScene();
    opened = await scene.openAs('stranger', '/console/credits');
    page = opened.page;
    page.on('response', (response) => {
      if (response.url().endsWith('/console/api/stream')) streams.push(response.status());
    });
  });

  const statusWith = async (key: string) => {
    const headers = { authorization: `Bearer ${key}` };
    return (await fetch(`${scene.stack.baseUrl}/v1/jobs`, { headers })).status;
  };

  it('buys the first credits with limits, in one signature', async () => {
    await press(page, 'Buy the first credits');
    await focused(page, 'Credits');
    const proposals = () =>
      Promise.all(
        ['job', 'day'].map((period) =>
          page.getByLabel(`At most per ${period}, in credits`).inputValue(),
        ),
      );
    await write(page, 'Credits', '300');
    expect(await proposals()).toEqual(['300', '300']);
    await write(page, 'Credits', String(CREDITS));
    expect(await proposals()).toEqual(['400', '1,000']);
    await page.getByText('A day of UTC counts what was charged today').waitFor();
    await page.keyboard.press('Enter');
    await page.getByText('You then have 1,000 credits available.').waitFor();
    await page
      .getByText('This service may lock 400 credits a job and 1,000 credits a day.')
      .waitFor();
    await signAndSend(page);

    await page.getByText('Buy 1,000 credits: confirmed.').waitFor();
    const balance = page.getByRole('region', { name: 'Balance' });
    await balance.getByText('1,000 credits').waitFor();
    await balance.getByText('10.00 USDC').waitFor();
    // A wallet without an account has no stream.
    await until(() => streams.length > 0);
    expect(streams).toEqual([200]);
  });

  it('makes an API key, which is shown once [keys.settings-tab]', async () => {
    await page.goto(`${scene.stack.baseUrl}/console/settings`);
    await press(page, 'Create the key');
    const dialog = page.getByRole('dialog', { name: 'Your API key' });
    apiKey = (await dialog.locator('code').first().textContent()) ?? '';
    expect(apiKey).toMatch(/^svc_live_\w+$/);
    expect(await dialog.getByRole('region', { name: 'curl code' }).textContent()).toContain(apiKey);
    await page.keyboard.press('Escape');
    await page.mouse.click(2, 2);
    expect(await dialog.isVisible()).toBe(true);
    await press(page, 'I have kept it');
    await page.reload();

    await page.getByRole('button', { name: 'Replace…' }).waitFor();
    expect(await page.content()).not.toContain(apiKey);
    const kept = await page.evaluate(
      'JSON.stringify(localStorage) + JSON.stringify(sessionStorage)',
    );
    expect(kept).not.toContain(apiKey);
  });

  it('sees the job of the official client come and settle, without a reload', async () => {
    await page.goto(`${scene.stack.baseUrl}/console/jobs`);
    await page.getByText('No jobs yet').waitFor();
    ({ job, text: answer } = await complete(scene.stack, { as: apiKey }));

    const row = page.getByRole('row').filter({ hasText: job.slice(-8) });
    await row.getByText('settled').waitFor();
    await row.getByText(/^[\d,]+ ms$/).waitFor();
    await page
      .getByRole('link', { name: /^Credits available/ })
      .getByText('998')
      .waitFor();
  });

  it('opens the job and verifies it in the page', async () => {
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    const drawer = page.getByRole('dialog', { name: job });
    await drawer.getByText(/^(Acknowledged, p|P)roven/).waitFor();
    await press(page, 'Verify');

    await drawer.getByText('The job holds').waitFor();
    await page.keyboard.press('Escape');
    await drawer.waitFor({ state: 'detached' });
  });

  it('cannot dispute the proven text, and disputes another within the window', async () => {
    await page.goto(`${scene.stack.baseUrl}/console/jobs/${job}`);
    const drawer = page.getByRole('dialog', { name: job });
    await write(page, 'The text that you received', answer);
    await drawer.getByText('there is nothing to dispute').waitFor();
    expect(await drawer.getByRole('button', { name: 'Open a dispute' }).isDisabled()).toBe(true);
    await write(page, 'The text that you received', '<script>alert(1)</script>');
    await press(page, 'Open a dispute');

    await drawer.getByText('Dispute open', { exact: true }).waitFor();
  });

  it('asks in the playground and verifies the answer', async () => {
    await page.goto(`${scene.stack.baseUrl}/console/playground`);
    await write(page, 'Message', 'Say hello.');
    await write(page, 'At most so many tokens', '24');
    await write(page, 'Instructions (optional)', 'Be "brief", it\'s late.');
    await press(page, 'Show as code');
    const code = await page.getByRole('region', { name: 'curl code' }).textContent();
    const asked = page.waitForRequest(/\/console\/api\/completions$/);
    await press(page, 'Send');
    const sent = (await asked).postData();
    expect(JSON.parse(sent ?? '').messages).toHaveLength(2);
    expect(code?.replaceAll("'\\''", "'")).toContain(`-d '${sent}'`);
    await press(page, 'Verify this answer');

    await page.getByText('The job holds').waitFor();
    expect(await page.getByText('delivery.output').count()).toBe(1);
    const charged = '2 credits (0.02 USDC) charged per request, for a text of up to 500 tokens';
    await page.getByText(charged).waitFor();
  });

  it('sees which rate a long answer was charged, and that it is the lower one', async () => {
    await page.goto(`${scene.stack.baseUrl}/console/playground`);
    await write(page, 'Message', 'Write 600 words.');
    await write(page, 'At most so many tokens', '700');
    await press(page, 'Send');
    const rate = 'at 1 per 1,000 tokens, for a text of more than 500';
    await page.getByText(`1 credit (0.01 USDC) charged ${rate}`).waitFor();
    await page.getByRole('link', { name: /^job_/ }).click();
    await page.getByRole('dialog').getByText(rate).waitFor();
    await page.goto(`${scene.stack.baseUrl}/console/usage`);
    const rates = page.getByRole('region', { name: 'By rate' });
    const cells = rates.getByRole('row').last().getByRole('cell');

    await cells.last().getByText('1 credit').waitFor();
    expect((await cells.allTextContents()).slice(1)).toEqual(['2 jobs4 credits', '1 job1 credit']);
    await page.goto(`${scene.stack.baseUrl}/console/models`);
    await page.getByText('than one of 500: 11, not 40, on max; ').waitFor();
  });

  it('replaces the key, after which the old one is refused', async () => {
    await page.goto(`${scene.stack.baseUrl}/console/settings`);
    await press(page, 'Replace…');
    await press(page, 'Cancel');
    expect(await statusWith(apiKey)).toBe(200);
    await press(page, 'Replace…');
    await press(page, 'Revoke it and make another');
    const dialog = page.getByRole('dialog', { name: 'Your API key' });
    const old = apiKey;
    apiKey = (await dialog.locator('code').first().textContent()) ?? '';
    await press(page, 'I have kept it');

    expect(apiKey).toMatch(/^svc_live_\w+$/);
    expect([await statusWith(old), await statusWith(apiKey)]).toEqual([401, 200]);
  });

  it('stops the spender, after which requests are refused', async () => {
    await page.goto(`${scene.stack.baseUrl}/console/credits`);
    await page
      .getByRole('region', { name: 'Balance' })
      .filter({ hasText: 'Charged today5Locked now0' })
      .waitFor();
    await press(page, 'Stop the spender…');
    await signAndSend(page);

    await page.getByText('Only your wallet may lock credits').waitFor();
    const client = new OpenAI({ baseURL: `${scene.stack.baseUrl}/v1`, apiKey, maxRetries: 0 });
    const refused = client.chat.completions.create({
      model: scene.stack.model,
      messages: [{ role: 'user', content: 'Say hello.' }],
    });
    await expect(refused).rejects.toMatchObject({ status: 403 });
  });

  it('withdraws what is left', async () => {
    await press(page, 'Withdraw…');
    await press(page, 'See what it does');
    await page.getByText('You then have 0 credits available.').waitFor();
    await signAndSend(page);

    const balance = page.getByRole('region', { name: 'Balance' });
    await balance.getByText(/^0 credits/).waitFor();
  });

  it('revokes the key, after which it is refused, and may make another', async () => {
    await page.goto(`${scene.stack.baseUrl}/console/settings`);
    await press(page, 'Revoke…');
    await press(page, 'Revoke it');
    await page.getByRole('button', { name: 'Create the key' }).waitFor();

    expect(await statusWith(apiKey)).toBe(401);
  });

  it('signs out, after which nothing of the wallet is left in the page', async () => {
    await press(page, 'Sign out');

    await page.getByRole('heading', { name: 'Sign in with your wallet' }).waitFor();
    expect(opened.complaints).toEqual([]);
  });
});

const HOSTILE = '<img src=x onerror="alert(1)"><script>alert(2)</script>';

/** Each test goes on where the one before it ended. */
describeInBrowser('a webhook in the web app', (openScene) => {
  const it = createStory();
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
  const fired = () => page.getByText('The alert has fired and is not armed.');

  it('is made in Settings, and its secret is shown once', async () => {
    await page.getByRole('button', { name: 'Add a webhook' }).click();
    await page.getByLabel('Endpoint').fill(`${receiver.url}?to=${encodeURIComponent(HOSTILE)}`);
    await page.getByRole('button', { name: 'Add it' }).click();
    const dialog = page.getByRole('dialog', { name: "The webhook's secret" });

    expect(await dialog.locator('code').first().textContent()).toMatch(/^whsec_/);
    await dialog.getByRole('button', { name: 'I have kept it' }).click();
  });

  it('shows a failed delivery with five attempts, and answers as text', async () => {
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
    await page.keyboard.press('Escape');
    await page.getByText(/It failed five times/).waitFor({ state: 'detached' });
  });

  it('gets credit.low once the credits fall below the threshold of Settings', async () => {
    await saveThreshold('9,997');
    await complete(scene.stack);

    await until(async () => sent('credit.low').length === 1);
    expect(sent('credit.low')[0]?.data).toMatchObject({ threshold: 9_997 });
    await page.reload();
    await fired().waitFor();
  });

  it('gets it again after the threshold was lowered, which resets the alert', async () => {
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
      await page.getByRole('button', { name: 'Save', disabled: true }).waitFor();
      await field.fill('1');
    }
    await saveThreshold(' 5 ');
  });

  it('finds the events of a job, and sends all that match again', async () => {
    const [first] = sent('job.completed');
    const before = receiver.received.length;
    await page.goto(`${scene.stack.baseUrl}/console/settings`);
    await page.getByRole('link', { name: 'Events', exact: true }).click();
    await page.getByLabel('Event or job id').fill(first.data.job_id);
    await until(async () => (await page.getByRole('button', { name: /^job/ }).count()) === 1);
    await page.getByLabel('Choose all that match').check();
    await page.getByRole('button', { name: 'Send all that match again' }).click();

    await page.getByText('1 event is sent again.').waitFor();
    await until(() => receiver.received.length === before + 1);
    expect(JSON.parse(receiver.received.at(-1)?.body ?? '')).toEqual(first);
    await page.getByRole('button', { name: 'job.completed' }).click();
    const drawer = page.getByRole('dialog', { name: 'job.completed' });
    await drawer.getByText('thank you').first().waitFor();
    const sentHeaders = drawer.getByRole('region', { name: 'Headers of the last attempt' });
    const headers = await sentHeaders.textContent();
    expect(headers).toContain(`Svc-Event-Id: ${first.id}`);
    expect(headers).not.toMatch(/signature/i);
    await page.keyboard.press('Escape');
  });

  it('keeps the endpoint of one tab and the events of another', async () => {
    const moved = await startReceiver();
    await page.goto(`${scene.stack.baseUrl}/console/settings`);
    await page.getByRole('link', { name: receiver.url }).click();
    await page.getByRole('button', { name: 'Edit…' }).click();
    const { page: other } = await scene.openIn(page.context(), new URL(page.url()).pathname);
    await other.getByRole('button', { name: 'Edit…' }).click();
    await other.getByLabel('Endpoint').fill(moved.url);
    await other.getByRole('button', { name: 'Save' }).click();
    await page.locator('h1 + p', { hasText: moved.url }).waitFor();
    await page.getByLabel(/^job\.submitted/).check();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await complete(scene.stack);

    await until(() => moved.received.length === 2);
    const kinds = moved.received.map(({ body }) => JSON.parse(body).event);
    expect(kinds.sort()).toEqual(['job.completed', 'job.submitted']);
    await moved.close();
    expect(dialogs).toEqual([]);
    expect(opened.complaints).toEqual([]);
  });
});
