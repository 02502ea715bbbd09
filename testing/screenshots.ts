import { hash } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import OpenAI from 'openai';
import type { Page } from 'playwright-core';
import { APP_PATHS } from '../console/routes.ts';
import { readStackFile, STACK_FOLDER } from '../stack/stackFile.ts';
import { launchChromium, openSignedIn, ready } from './browser.ts';

// Takes the pictures in docs/console: every page of the running stack, light and dark, wide and narrow.
// Start the stack with `npm start` first, in this folder.

const TARGET = join(import.meta.dirname, '../docs/console');
const HEIGHT = 800;
const JOBS = 12;
const SETTLE_MS = 600;
/** Accounts of the development wallet, each with the pages that it opens: their names and paths. */
const PAGES: Readonly<Record<string, readonly (readonly [name: string, path: string])[]>> = {
  wallet: [
    ...[...APP_PATHS.filter((path) => !/:|operator|arbiter/.test(path)), '/verify'].map(
      (path) =>
        [
          path
            .split('/')
            .at(-1)
            ?.replace(/^console$/, 'home') ?? '',
          path,
        ] as const,
    ),
    // Of the documentation: a guide, what is made, and what a mistyped address leads to.
    ['documentation', '/docs'],
    ['reference', '/docs/reference#list-jobs'],
    ['not-found', '/docs/webhoks'],
    ['job', '/console/jobs'],
    ['verified', '/verify'],
    ['model', '/console/models'],
    ['worker', '/console/workers'],
  ],
  operator: [['operator', '/console/operator']],
  arbiter: [['arbiter', '/console/arbiter']],
};

const stack = readStackFile(STACK_FOLDER);
if (stack === undefined) throw new Error('No stack runs here: begin with npm start.');
const { baseUrl, apiKey, model, wallet } = stack;

const openFirst = (page: Page) => page.getByRole('row').nth(1).getByRole('link').click();
async function verify(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Verify' }).click();
  await page.getByText('The job holds').waitFor();
}

/** What is done on a page before its picture. */
const DEEDS: Readonly<Record<string, (page: Page) => Promise<void>>> = {
  async playground(page) {
    await page.getByLabel('Max tokens').fill('40');
    await page.getByLabel('Message').fill('Say hello in five words.');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByRole('button', { name: 'Verify this answer' }).waitFor();
  },
  async job(page) {
    await openFirst(page);
    await verify(page);
  },
  async verified(page) {
    await page.goto(`${baseUrl}/verify/${newest}#wallet=${wallet}`);
    await verify(page);
  },
  async model(page) {
    await openFirst(page);
    await page.getByRole('heading', { level: 2, name: 'Card' }).waitFor();
  },
  async worker(page) {
    await openFirst(page);
    await page.getByRole('heading', { level: 1, name: /^Worker / }).waitFor();
  },
};

/** So that lists and charts have something to show: jobs, and a dispute of the first one. */
async function makeJobs(): Promise<readonly string[]> {
  const client = new OpenAI({ baseURL: `${baseUrl}/v1`, apiKey });
  const ids: string[] = [];
  for (let made = 0; made < JOBS; made += 1) {
    const messages = [{ role: 'user' as const, content: `Say hello in ${made + 1} words.` }];
    const asked = client.chat.completions.create({ model, max_tokens: 40, messages });
    ids.push((await asked.withResponse()).response.headers.get('x-svc-job-id') ?? '');
  }
  await client.post(`/jobs/${ids[0]}/dispute`, {
    body: { received_output_hash: `sha256:${hash('sha256', 'Another text.')}` },
  });
  return ids;
}

const newest = (await makeJobs()).at(-1);
await rm(TARGET, { recursive: true, force: true });
await mkdir(TARGET, { recursive: true });
const browser = await launchChromium();
for (const colorScheme of ['light', 'dark'] as const) {
  for (const width of [1280, 390]) {
    for (const [account, pages] of Object.entries(PAGES)) {
      const viewport = { width, height: HEIGHT };
      const context = await browser.newContext({ colorScheme, viewport });
      const page = await openSignedIn(context, baseUrl, account);
      for (const [name, path] of pages) {
        await page.goto(`${baseUrl}${path}`);
        if (!path.startsWith('/docs')) await ready(page);
        await DEEDS[name]?.(page);
        await page.waitForTimeout(SETTLE_MS);
        await page.screenshot({ path: join(TARGET, `${name}-${colorScheme}-${width}.png`) });
      }
      await context.close();
    }
  }
}
await browser.close();
