import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import type { ConsoleModelList } from '../../../api/contracts/index.ts';
import { createStory } from '../../../testing/story.ts';
import { startUpstream, type UpstreamServer } from '../../worker/upstreamServer.ts';
import { describeInBrowser, type OpenPage, type PageScene } from './pageScene.ts';

const HARD = `It's "two" lines\nwith \\ $HOME \`id\` and ünïcode 😀.`;

let upstream: UpstreamServer;
/** Lets the answer end that waits. */
let goOn = (): void => {};
beforeAll(async () => {
  upstream = await startUpstream();
  upstream.answerWith(async (reply, body) => {
    const asked = (body.messages as { content: string }[]).at(-1)?.content ?? '';
    if (asked === 'fail') return reply.refuse(500, {});
    reply.text(`Answer to ${asked}.`);
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

  beforeAll(async () => {
    scene = await openScene({ WORKER_UPSTREAM_URL: upstream.url });
    opened = await scene.openAs('wallet', '/console/playground');
    page = opened.page;
  });

  const turn = (number: number) => page.getByRole('article', { name: `Turn ${number}` });
  const button = (name: string, within: Page | Locator = page) =>
    within.getByRole('button', { name, exact: true });
  const price = () => page.getByRole('status', { name: 'Price' });
  /** Does what sends a request. @returns its bytes */
  async function sentBy(action: () => Promise<unknown>): Promise<string> {
    const asked = page.waitForRequest(/\/console\/api\/chat\/completions$/);
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

  it('sends the bytes of the code that it shows', async () => {
    await page.getByLabel('Instructions (optional)').fill(HARD);
    await page.getByLabel('Seed').fill('1.5');
    await page.getByLabel('Message', { exact: true }).fill(HARD);
    await page.getByText('A whole number of at most 15 digits.').waitFor();
    expect(await button('Send').isDisabled()).toBe(true);
    await page.getByLabel('Seed').fill('-7');
    await page.getByLabel('Max tokens', { exact: true }).fill('99');
    await button('Show as code').click();
    const code = () => page.getByRole('region', { name: 'curl code' }).textContent();
    const shown = (await code()) ?? '';
    const body = await sentBy(() => button('Send').click());
    await button('Verify this answer').waitFor();

    expect(shown.replaceAll("'\\''", "'")).toContain(`-d '${body}'`);
    expect(JSON.parse(body)).toMatchObject({ seed: -7, max_tokens: 99, max_credits: 2 });
    // While nothing is entered, it shows what was sent.
    expect(await code()).toBe(shown);
  });

  it('asks behind the turns before, as they are after edits and repeats', async () => {
    await page.reload();
    await ask('one');
    await ask('two');
    await button('Edit', turn(1)).click();
    await page.getByLabel('Edited message').fill('first');
    await button('Keep the answer', turn(1)).click();
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

    expect(await page.evaluate('document.activeElement.labels[0].textContent')).toBe('Message');
    expect(messagesIn(await ask('four'))).toEqual([
      ...['user: first', 'assistant: Answer to first.', 'user: four'],
    ]);
  });

  it('stops an answer, which is charged for what was written', async () => {
    await page.reload();
    await page.getByLabel('Message', { exact: true }).waitFor();
    expect(await page.getByRole('article').count()).toBe(0);
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

  it('goes on with an answer behind another page, and keeps it in no storage', async () => {
    await page.getByLabel('Message', { exact: true }).fill('wait');
    await button('Send').click();
    await turn(1).getByText('Answer to wait.').waitFor();
    const kept = 'JSON.stringify(localStorage) + JSON.stringify(sessionStorage) + location.href';
    expect(await page.evaluate(kept)).not.toMatch(/wait/i);
    await page.getByRole('link', { name: 'Jobs' }).click();
    await page.getByRole('heading', { level: 1, name: 'Jobs' }).waitFor();
    goOn();
    await page.getByRole('link', { name: 'Playground' }).click();

    await button('Verify this answer', turn(1)).waitFor();
  });

  it('asks before a conversation is lost with its page', async () => {
    const asking = page.waitForEvent('dialog');
    const leaving = page.goto(`${scene.stack.baseUrl}/docs`).catch(() => undefined);
    const asked = await asking;
    expect(asked.type()).toBe('beforeunload');
    await asked.dismiss();
    await leaving;
    expect(await turn(1).getByText('Answer to wait.').count()).toBe(1);
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

  it('says the cost, and saves the stream and the request', async () => {
    await button('New conversation').click();
    const body = await ask('save');
    await turn(1).getByText('2 credits (0.02 USDC) charged per request').waitFor();
    await button('Verify this answer', turn(1)).click();
    const checks = turn(1).getByRole('region', { name: 'Checks: delivery' }).locator('code');
    await turn(1).getByRole('heading', { name: 'The job holds' }).waitFor();
    expect(await checks.allTextContents()).toEqual([
      ...['delivery.output', 'delivery.details', 'delivery.receipt', 'delivery.answer'],
    ]);
    const link = page.getByRole('link', { name: 'Its verify link' });
    const verifyUrl = (await link.getAttribute('href')) ?? '';
    const saved = async (name: string): Promise<string> => {
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        button(name, turn(1)).click(),
      ]);
      return readFileSync(await download.path(), 'utf8');
    };
    expect(await saved('Save its request')).toBe(body);
    expect(await saved('Save this answer')).toMatch(/^data: \{[\s\S]+data: \[DONE\]\n\n$/);
    expect(verifyUrl).toMatch(/\/verify\/job_[0-9a-f]{32}#wallet=\w+$/);
  });

  it('asks again where the price has risen, and locks no more than was agreed', async () => {
    // Until it asks, the page knows the price of before.
    let hasAsked = false;
    page.on('request', (one) => {
      hasAsked ||= one.url().endsWith('/console/api/chat/completions');
    });
    await page.route('**/console/api/models', async (route) => {
      const response = await route.fetch();
      const list = (await response.json()) as ConsoleModelList;
      const asked = list.data.find(({ id }) => id === scene.stack.model);
      if (asked && !hasAsked) asked.svc.credits_per_request = 1;
      await route.fulfill({ response, json: list });
    });
    await page.reload();
    await price().getByText('1 credit (0.01 USDC)').waitFor();
    await page.getByLabel('Message', { exact: true }).fill('dear');
    await button('Send').click();
    const sentence =
      'The request now locks 2 credits (0.02 USDC), and you saw 1 credit (0.01 USDC).';
    await turn(1).getByText(sentence).waitFor();
    await turn(1).getByText('Nothing was locked or charged.').waitFor();
    await price().getByText('2 credits (0.02 USDC)').waitFor();
    await page.getByLabel('Seed').fill('7');
    const again = () => button('Send it for at most 2 credits (0.02 USDC)', turn(1)).click();
    expect(JSON.parse(await sentBy(again))).toMatchObject({ max_credits: 2 });
    await button('Verify this answer', turn(1)).waitFor();
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
});
