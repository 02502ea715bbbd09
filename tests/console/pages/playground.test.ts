import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect } from '@jest/globals';
import { Connection, PublicKey } from '@solana/web3.js';
import type { Locator, Page } from 'playwright-core';
import type { ConsoleJob, ConsoleModelList } from '../../../api/console/contracts/index.ts';
import { fetchConfig, fetchModel } from '../../../programs/client/accounts.ts';
import { createAddresses } from '../../../programs/client/addresses.ts';
import { modelUpsert } from '../../../programs/client/instructions.ts';
import { freeTokenLimit, lockCredits } from '../../../programs/client/pricing.ts';
import { runCli } from '../../../testing/cli.ts';
import { createStory } from '../../../testing/story.ts';
import { until } from '../../../testing/until.ts';
import { startUpstream, type UpstreamServer } from '../../worker/upstreamServer.ts';
import { describeInBrowser, type OpenPage, type PageScene } from './pageScene.ts';
import { openStackKeys } from './stackKeys.ts';

const run = promisify(execFile);

const WIDE = `# Title\n\n${'|a'.repeat(40)}|\n${'|-'.repeat(40)}|\n\n\`\`\`\n${'code '.repeat(99)}\n\`\`\``;
const HARD = `It's "two" lines\nwith \\ $HOME \`id\` and ünïcode 😀.`;

let upstream: UpstreamServer;
/** Lets the answer end that waits. */
let goOn = (): void => {};
beforeAll(async () => {
  upstream = await startUpstream();
  upstream.answerWith(async (reply, body) => {
    const asked = (body.messages as { content: string }[]).at(-1)?.content ?? '';
    if (asked === 'fail') return reply.refuse(500, {});
    reply.text(asked === 'wide' ? WIDE : `Answer to ${asked}.`);
    if (asked === 'wait') {
      await Promise.race([
        reply.closed,
        new Promise<void>((resolve) => {
          goOn = resolve;
        }),
      ]);
    }
    reply.finish('stop');
    reply.usage(10, 20);
    reply.done();
    reply.end();
  });
});
afterAll(() => upstream.close());

describeInBrowser('the playground', (openScene) => {
  const it = createStory();
  let scene: PageScene;
  let opened: OpenPage;
  let page: Page;
  let folder: string;
  /** The files that were saved. */
  let answer: string;
  let request: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'svc-playground-'));
    symlinkSync(join(import.meta.dirname, '../../../node_modules'), join(folder, 'node_modules'));
    scene = await openScene({ WORKER_UPSTREAM_URL: upstream.url });
    opened = await scene.openAs('wallet', '/console/playground');
    page = opened.page;
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const turn = (number: number) => page.getByRole('article', { name: `Turn ${number}` });
  const button = (name: string, within: Page | Locator = page) =>
    within.getByRole('button', { name, exact: true });
  const price = () => page.getByRole('status', { name: 'Price' });
  /** What the catalog says of the model at present. */
  async function modelTerms() {
    const response = await fetch(`${scene.stack.baseUrl}/console/api/models`);
    const { data } = (await response.json()) as ConsoleModelList;
    const model = data.find(({ id }) => id === scene.stack.model);
    if (!model) throw new Error('The catalog does not have the model');
    return model.svc;
  }
  /** Does what sends a request. @returns its bytes */
  async function sentBy(action: () => Promise<unknown>): Promise<string> {
    const asked = page.waitForRequest(/\/console\/api\/completions$/);
    await action();
    return (await asked).postData() ?? '';
  }
  /** Asks at the end of the conversation, and waits for the whole answer. */
  async function ask(prompt: string): Promise<string> {
    const number = (await page.getByRole('article').count()) + 1;
    await page.getByLabel('Message', { exact: true }).fill(prompt);
    const body = await sentBy(() => button('Send').click());
    await button('Verify this answer', turn(number)).waitFor();
    return body;
  }
  const messagesIn = (body: string): string[] =>
    JSON.parse(body).messages.map(
      ({ role, content }: { role: string; content: string }) => `${role}: ${content}`,
    );

  it('says what a request locks at most, and never allows more', async () => {
    const svc = await modelTerms();
    const terms = {
      creditsPerRequest: svc.credits_per_request,
      creditsPer1kTokens: svc.credits_per_1k_tokens,
      longCompletionThresholdTokens: svc.long_completion_threshold,
    };
    await page.getByLabel('Model').selectOption(scene.stack.model);
    for (const limit of [1, 500, 501, 12_345, undefined]) {
      const most = lockCredits(terms, limit ?? freeTokenLimit(terms));
      await page.getByLabel('At most so many tokens').fill(`${limit ?? ''}`);
      const usdc = `${(Number(most) / 100).toFixed(2)} USDC`;
      await price().getByText(`${most} credits (${usdc})`).waitFor();
      const longer = limit === undefined || limit > 500 ? ', a longer one 1 per 1,000 tokens' : '';
      const usual = `An answer of up to 500 tokens is charged 2 credits${longer}.`;
      expect(await price().textContent()).toContain(usual);
      const sent = JSON.parse(await ask(`limit ${limit}`));
      expect([sent.max_tokens, sent.max_credits]).toEqual([limit, Number(most)]);
      await button('Remove', turn(1)).click();
    }
  });

  it('sends no field that the service would refuse', async () => {
    await page.getByLabel('Message', { exact: true }).fill('Hello');
    for (const [label, wrong, sentence] of [
      ['At most so many tokens', '0', 'A whole number, at least 1.'],
      ['Temperature', '2.1', 'A number from 0 to 2.'],
      ['top_p', '-1', 'A number from 0 to 1.'],
      ['Seed', '9007199254740992', 'A whole number of at most 15 digits.'],
      ['Stop sequences', 'x\n'.repeat(17), 'At most 16, of 256 characters each.'],
    ] as const) {
      await page.getByLabel(label).fill(wrong);
      await page.getByText(sentence).waitFor();
      expect([label, await button('Send').isDisabled()]).toEqual([label, true]);
      await page.getByLabel(label).fill('');
      expect([label, await button('Send').isDisabled()]).toEqual([label, false]);
    }
  });

  it('sends every option, and its code sends the same bytes', async () => {
    for (const [label, value] of [
      ['At most so many tokens', '40'],
      ['Instructions (optional)', HARD],
      ['Temperature', '0.70'],
      ['top_p', '1'],
      ['Seed', '-7'],
      ['Stop sequences', '\\n\\n\n\\\\ end'],
      ['Message', HARD],
    ] as const) {
      await page.getByLabel(label, { exact: true }).fill(value);
    }
    await button('Show as code').click();
    const codeIn = async (language: string) => {
      await button(language).click();
      return (await page.getByRole('region', { name: `${language} code` }).textContent()) ?? '';
    };
    const [curl, typescript] = [await codeIn('curl'), await codeIn('TypeScript')];
    const body = await sentBy(() => button('Send').click());
    await button('Verify this answer').waitFor();

    expect(JSON.parse(body)).toEqual({
      model: scene.stack.model,
      stream: true,
      messages: [
        { role: 'system', content: HARD },
        { role: 'user', content: HARD },
      ],
      ...{ max_tokens: 40, seed: -7, stop: ['\n\n', '\\ end'], temperature: 0.7, top_p: 1 },
      max_credits: 2,
    });
    expect(curl.replaceAll("'\\''", "'")).toContain(`-d '${body}'`);
    // While nothing is entered, it shows what was sent.
    expect([await codeIn('curl'), await codeIn('TypeScript')]).toEqual([curl, typescript]);
    await button('Show as code').click();
    const seen = upstream.requests.at(-1)?.body;
    const withKey = (code: string) => code.replace('YOUR_API_KEY', scene.stack.apiKey);
    writeFileSync(join(folder, 'sample.mts'), withKey(typescript));
    for (const [program, ...args] of [
      ['bash', '-c', withKey(curl)],
      [process.execPath, join(folder, 'sample.mts')],
    ] as const) {
      const before = upstream.requests.length;
      const { stdout } = await run(program, args);
      expect(stdout).toContain('Answer to');
      expect(upstream.requests.slice(before).map((request) => request.body)).toEqual([seen]);
    }
  });

  it('asks behind the turns before, as they are after edits and repeats', async () => {
    await page.reload();
    expect(messagesIn(await ask('one'))).toEqual(['user: one']);
    const second = ['user: one', 'assistant: Answer to one.', 'user: two'];
    expect(messagesIn(await ask('two'))).toEqual(second);
    await button('Edit', turn(1)).click();
    await page.getByLabel('Edited message').fill('first');
    await button('Keep the answer', turn(1)).click();
    expect(messagesIn(await ask('three')).slice(0, 2)).toEqual([
      'user: first',
      'assistant: Answer to one.',
    ]);
    await button('Edit', turn(2)).click();
    await page.getByLabel('Edited message').fill('second');
    const asked = await sentBy(() => button('Ask it again', turn(2)).click());
    expect(messagesIn(asked)).toEqual([
      ...['user: first', 'assistant: Answer to one.', 'user: second'],
    ]);
    await turn(2).getByText('Answer to second.').waitFor();
    const repeated = await sentBy(() => button('Repeat', turn(1)).click());
    expect(messagesIn(repeated)).toEqual(['user: first']);
    await turn(1).getByText('Answer to first.').waitFor();
    await button('Remove', turn(2)).click();

    await turn(2).getByText('Answer to three.').waitFor();
    expect(await page.evaluate('document.activeElement.labels[0].textContent')).toBe('Message');
    expect(messagesIn(await ask('four'))).toEqual([
      ...['user: first', 'assistant: Answer to first.'],
      ...['user: three', 'assistant: Answer to three.', 'user: four'],
    ]);
  });

  it('keeps the conversation in this tab alone', async () => {
    await page.getByRole('link', { name: 'Jobs' }).click();
    await page.getByRole('heading', { level: 1, name: 'Jobs' }).waitFor();
    await page.getByRole('link', { name: 'Playground' }).click();
    await turn(3).getByText('Answer to four.').waitFor();
    const kept = 'JSON.stringify(localStorage) + JSON.stringify(sessionStorage) + location.href';
    expect(await page.evaluate(kept)).not.toMatch(/four|three|first/);
    await page.reload();
    await page.getByLabel('Message', { exact: true }).waitFor();

    expect(await page.getByRole('article').count()).toBe(0);
  });

  it('stops an answer, which is charged for what was written', async () => {
    await page.getByLabel('Message', { exact: true }).fill('wait');
    await button('Send').click();
    await turn(1).getByText('Answer to wait.').waitFor();
    expect(await button('Repeat', turn(1)).isDisabled()).toBe(true);
    await button('Stop').click();

    await turn(1).getByText('Stopped. What was written until then is charged').waitFor();
    await turn(1).getByText('settled', { exact: true }).waitFor();
    goOn();
    expect(messagesIn(await ask('go on'))).toHaveLength(3);
    await button('New conversation').click();
    expect(await page.getByRole('article').count()).toBe(0);
  });

  it('goes on with an answer while another page is open', async () => {
    await page.getByLabel('Message', { exact: true }).fill('wait');
    await button('Send').click();
    await turn(1).getByText('Answer to wait.').waitFor();
    await page.getByRole('link', { name: 'Jobs' }).click();
    await page.getByRole('heading', { level: 1, name: 'Jobs' }).waitFor();
    goOn();
    await page.getByRole('link', { name: 'Playground' }).click();

    await button('Verify this answer', turn(1)).waitFor();
  });

  it('says what became of the credits where no worker answers', async () => {
    await page.getByLabel('Message', { exact: true }).fill('fail');
    await button('Send').click();

    await turn(2)
      .getByText(/^Nothing (was|is) charged/)
      .waitFor();
    expect(messagesIn(await ask('then'))).toEqual([
      ...['user: wait', 'assistant: Answer to wait.', 'user: then'],
    ]);
  });

  it('shows a wide answer on a narrow page', async () => {
    await page.setViewportSize({ width: 390, height: 800 });
    await ask('wide');
    await page.getByRole('heading', { name: 'Title' }).waitFor();
    await page.getByRole('region', { name: 'Table' }).waitFor();

    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    await page.setViewportSize({ width: 1280, height: 800 });
    await button('New conversation').click();
  });

  it('says the cost, and saves the stream and the request', async () => {
    const body = await ask('save');
    await turn(1).getByText('2 credits (0.02 USDC) charged per request').waitFor();
    const link = page.getByRole('link', { name: 'Its verify link' });
    const verifyUrl = (await link.getAttribute('href')) ?? '';
    const saved = async (name: string): Promise<string> => {
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        button(name, turn(1)).click(),
      ]);
      const path = join(folder, download.suggestedFilename());
      await download.saveAs(path);
      return path;
    };
    answer = await saved('Save this answer');
    request = await saved('Save its request');

    expect(readFileSync(request, 'utf8')).toBe(body);
    expect(readFileSync(answer, 'utf8')).toMatch(/^data: \{[\s\S]+data: \[DONE\]\n\n$/);
    expect(verifyUrl).toMatch(/\/verify\/job_[0-9a-f]{32}#wallet=\w+$/);
  });

  it('asks again where the price has risen, and locks no more than was agreed', async () => {
    const keys = await openStackKeys(scene.stack);
    const ledger = new Connection(scene.stack.rpcUrl, 'confirmed');
    const addresses = createAddresses(new PublicKey(scene.stack.programId));
    const config = await fetchConfig(ledger, addresses.config);
    const model = await fetchModel(ledger, addresses.model(scene.stack.model));
    if (!config || !model) throw new Error('The ledger has no configuration or no model');
    await keys.submit('operator', [
      modelUpsert({
        ...model,
        id: scene.stack.model,
        ...{ label: '3B', originator: 'meta' },
        authority: config.authority,
        creditsPerRequest: 5,
      }),
    ]);
    await until(async () => (await modelTerms()).credits_per_request === 5);
    await price().getByText('2 credits (0.02 USDC)').waitFor();
    await page.getByLabel('Message', { exact: true }).fill('dear');
    await button('Send').click();
    const sentence =
      'The request now locks 5 credits (0.05 USDC), and you saw 2 credits (0.02 USDC).';
    await turn(2).getByText(sentence).waitFor();
    await turn(2).getByText('Nothing was locked or charged.').waitFor();
    await price().getByText('5 credits (0.05 USDC)').waitFor();
    await page.getByLabel('Seed').fill('7');
    const again = () => button('Send it for at most 5 credits (0.05 USDC)', turn(2)).click();
    expect(JSON.parse(await sentBy(again))).toMatchObject({ max_credits: 5 });
    await button('Verify this answer', turn(2)).waitFor();

    const list = await page.request.get(`${scene.stack.baseUrl}/console/api/jobs?limit=1`);
    const [job] = ((await list.json()) as { data: ConsoleJob[] }).data;
    expect(job).toMatchObject({ locked_credits: 5, credits_charged: 5 });
  });

  it('leaves nothing to another sign-in', async () => {
    await button('Sign out').click();
    await page.getByRole('heading', { name: /Sign in/ }).waitFor();
    expect(await page.content()).not.toMatch(/dear|Answer to/);
    await page.getByRole('button', { name: /Development wallet/ }).click();
    await button('stranger').click();
    await button('Sign').click();
    await page.getByLabel('Message', { exact: true }).waitFor();
    expect(await page.getByRole('article').count()).toBe(0);
    expect(await page.getByLabel('Seed').inputValue()).toBe('');
    expect(opened.complaints).toEqual([]);
  });

  it('saved what svc verify takes, question and answer', async () => {
    const verify = () =>
      runCli([
        ...['verify', '--response', answer, '--request', request],
        ...['--rpc', scene.stack.rpcUrl],
      ]);
    expect(await verify()).toMatchObject({
      code: 0,
      output: expect.stringContaining('The job holds'),
    });
    writeFileSync(request, readFileSync(request, 'utf8').replace('save', 'sale'));
    expect(await verify()).not.toMatchObject({ code: 0 });
  });
});
