import { hash } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import OpenAI from 'openai';
import type { Page } from 'playwright-core';
import { APP_PATHS } from '../../console/routes.ts';
import { readStackFile, STACK_FOLDER, type StackDescription } from '../../stack/stackFile.ts';
import { launchChromium, openSignedIn, ready } from '../../testing/browser.ts';

// Every page of the running stack, light and dark, wide and narrow, into docs/console. Start the
// stack with `npm start` first, in this folder.

const TARGET = join(import.meta.dirname, '../../docs/console');
const THEMES = ['light', 'dark'] as const;
const WIDTHS = [1280, 390] as const;
const HEIGHT = 800;
const JOBS = 12;
/** Accounts of the development wallet with pages of their own. */
const DUTIES = [
  ['operator', 'operator'],
  ['arbiter', 'arbiter'],
] as const;
/** Of the documentation: a guide, what is made, and what a mistyped address leads to. */
const DOCUMENTS = [
  ['/docs', 'documentation'],
  ['/docs/reference#list-jobs', 'reference'],
  ['/docs/webhoks', 'not-found'],
] as const;
const SETTLE_MS = 600;

const stack = readStackFile(STACK_FOLDER);
if (stack === undefined) throw new Error('No stack runs here: begin with npm start.');
await makeJobs(stack);
await rm(TARGET, { recursive: true, force: true });
await mkdir(TARGET, { recursive: true });
const browser = await launchChromium();
for (const colorScheme of THEMES) {
  for (const width of WIDTHS) {
    const viewport = { width, height: HEIGHT };
    const context = await browser.newContext({ colorScheme, viewport });
    await shoot(
      await openSignedIn(context, stack.baseUrl, 'wallet'),
      stack,
      `${colorScheme}-${width}`,
    );
    await context.close();
    for (const [account, name] of DUTIES) {
      const other = await browser.newContext({ colorScheme, viewport });
      const page = await openSignedIn(other, stack.baseUrl, account);
      await page.goto(`${stack.baseUrl}/console/${name}`);
      await ready(page);
      await page.waitForTimeout(SETTLE_MS);
      await page.screenshot({ path: join(TARGET, `${name}-${colorScheme}-${width}.png`) });
      await other.close();
    }
  }
}
await browser.close();

/** So that lists and charts have something to show: jobs, and a dispute of the first one. */
async function makeJobs({ baseUrl, apiKey, model }: StackDescription): Promise<void> {
  const client = new OpenAI({ baseURL: `${baseUrl}/v1`, apiKey });
  for (let made = 0; made < JOBS; made += 1) {
    const { response } = await client.chat.completions
      .create({
        model,
        max_tokens: 40,
        messages: [{ role: 'user', content: `Say hello in ${made + 1} words.` }],
      })
      .withResponse();
    if (made > 0) continue;
    await client.post(`/jobs/${response.headers.get('x-svc-job-id')}/dispute`, {
      body: { received_output_hash: `sha256:${hash('sha256', 'Another text.')}` },
    });
  }
}

async function ask(page: Page): Promise<void> {
  await page.getByLabel('At most so many tokens').fill('40');
  await page.getByLabel('Message').fill('Say hello in five words.');
  await page.getByRole('button', { name: 'Send' }).click();
  await page.getByRole('button', { name: 'Verify this answer' }).waitFor();
}

async function shoot(page: Page, { baseUrl }: StackDescription, suffix: string): Promise<void> {
  const take = async (name: string): Promise<void> => {
    await page.waitForTimeout(SETTLE_MS);
    await page.screenshot({ path: join(TARGET, `${name}-${suffix}.png`) });
  };
  const paths = APP_PATHS.filter((one) => !/:|operator|arbiter/.test(one));
  for (const path of [...paths, '/verify']) {
    await page.goto(`${baseUrl}${path}`);
    await ready(page);
    if (path.endsWith('/playground')) await ask(page);
    await take(path.split('/').at(-1) === 'console' ? 'home' : (path.split('/').at(-1) ?? ''));
  }
  for (const [path, name] of DOCUMENTS) {
    await page.goto(`${baseUrl}${path}`);
    await take(name);
  }
  await page.goto(`${baseUrl}/console/jobs`);
  const first = page.getByRole('row').nth(1).getByRole('link');
  const job = (await first.getAttribute('title')) ?? '';
  await first.click();
  await page.getByRole('button', { name: 'Verify' }).click();
  await page.getByText('The job holds').waitFor();
  await take('job');
  await page.goto(`${baseUrl}/verify/${job}#wallet=${await walletOf(page, baseUrl)}`);
  await page.getByRole('button', { name: 'Verify' }).click();
  await page.getByText('The job holds').waitFor();
  await take('verified');
  await page.goto(`${baseUrl}/console/models`);
  await page.getByRole('row').nth(1).getByRole('link').click();
  await page.getByRole('heading', { level: 2, name: 'Card' }).waitFor();
  await take('model');
  await page.goto(`${baseUrl}/console/workers`);
  await page.getByRole('row').nth(1).getByRole('link').click();
  await page.getByRole('heading', { level: 1, name: /^Worker / }).waitFor();
  await take('worker');
}

async function walletOf(page: Page, baseUrl: string): Promise<string> {
  const answer = await page.request.get(`${baseUrl}/console/api/session`);
  return ((await answer.json()) as { session: { wallet: string } }).session.wallet;
}
