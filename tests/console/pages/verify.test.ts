import { beforeAll, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import BUILTIN_CARD from '../../../stack/modelCards/builtin.json' with { type: 'json' };
import { describeInBrowser, type PageScene } from './pageScene.ts';

/** What a page says of its origin, its cookies, and whether our API answers it. */
const REACH = `(async () => {
  const named = (work) => work.then(String, (error) => error.name);
  return [
    window.origin,
    await named(Promise.resolve().then(() => document.cookie)),
    await named(fetch('/console/api/session', { credentials: 'include' })),
  ];
})()`;

const REQUEST = { messages: [{ role: 'user', content: 'What is a lock?' }], max_tokens: 200 };
const FILES = 'Saved answer and request';

/** Runs in the page. @returns whether the browser does with it what it always does */
const GIVE = `(kind, files, at) => {
  const data = new DataTransfer();
  for (const [name, content] of files) {
    if (name === 'text/plain') data.setData(name, content);
    else data.items.add(new File([content], name));
  }
  const options = { bubbles: true, cancelable: true };
  const event =
    kind === 'drop'
      ? new DragEvent(kind, { ...options, dataTransfer: data })
      : new ClipboardEvent(kind, { ...options, clipboardData: data });
  return document.querySelector(at).dispatchEvent(event);
}`;

describeInBrowser('Verify in the browser', (openScene) => {
  let scene: PageScene;
  let request: string;
  let plain: string;
  let stream: string;
  let job: string;

  beforeAll(async () => {
    scene = await openScene();
    const { baseUrl, apiKey, model } = scene.stack;
    const body = { model, ...REQUEST };
    request = JSON.stringify(body, null, 2);
    const ask = async (more: object) => {
      const response = await fetch(`${baseUrl}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({ ...body, ...more }),
      });
      return response.text();
    };
    [plain, stream] = await Promise.all([ask({}), ask({ stream: true })]);
    job = JSON.parse(plain).svc.job_id;
  });

  const open = () => scene.open(`/verify/${job}#wallet=${scene.stack.wallet}`);
  /** Drops files, or pastes them or a text, at an element. */
  const give = (
    page: Page,
    kind: 'drop' | 'paste',
    files: Readonly<Record<string, string>>,
    at = 'body',
  ) => page.evaluate<boolean>(`(${GIVE})(...${JSON.stringify([kind, Object.entries(files), at])})`);

  const verdictOf = async (page: Page) => {
    await page.getByRole('button', { name: 'Verify' }).click();
    const verdict = page.getByRole('status').filter({ has: page.getByRole('heading') });
    await verdict.waitFor();
    return verdict.getByRole('heading').textContent();
  };
  const holding = (page: Page) =>
    page.getByRole('region', { name: 'Checks: delivery' }).locator('code').allTextContents();

  it('takes a stream and its request that are dropped anywhere on the page', async () => {
    const { page, complaints } = await scene.open('/verify');
    const asked = new Set<string>();
    page.on('request', (one) => asked.add(new URL(one.url()).origin));
    await page.getByRole('button', { name: 'Choose files' }).waitFor();
    asked.clear();

    await give(page, 'drop', { 'answer.txt': `HTTP/2 200 \n\n${stream}`, 'request.json': request });

    const files = page.getByRole('region', { name: FILES });
    await files.getByRole('status').getByText('request.json is a request').waitFor();
    expect(await page.getByLabel('Wallet').inputValue()).toBe(scene.stack.wallet);
    expect(await page.getByLabel('Job', { exact: true }).inputValue()).toMatch(/^job_\w{32}$/);
    const command = await page.getByText('npx --no svc verify').textContent();
    expect(command).toContain(' --response answer.txt --request request.json');
    await page.getByLabel('Second node (optional)').fill(scene.stack.rpcUrl);
    expect(await verdictOf(page)).toBe('The job holds');
    await page.getByText('Both nodes show the same').waitFor();
    expect(await holding(page)).toEqual([
      ...['delivery.output', 'delivery.details', 'delivery.receipt', 'delivery.request'],
      'delivery.answer',
    ]);
    expect([...asked]).toEqual([new URL(scene.stack.rpcUrl).origin]);
    expect(complaints).toEqual([]);
  });

  it('takes what is pasted outside of a field, and lets it go again', async () => {
    const { page } = await scene.open('/verify');
    const status = page.getByRole('region', { name: FILES }).getByRole('status');
    await status.waitFor({ state: 'attached' });
    expect(await give(page, 'paste', { 'text/plain': plain }, 'input:not([type=file])')).toBe(true);
    expect(await status.textContent()).toBe('');

    expect(await give(page, 'paste', { 'text/plain': plain })).toBe(false);
    await status.getByText(`answer.txt is the answer of ${job}.`).waitFor();
    expect(await page.getByLabel('Compare the text that I received').isChecked()).toBe(true);
    await page.getByRole('button', { name: 'Remove answer.txt' }).click();
    expect(await page.getByLabel('Compare the text that I received').isChecked()).toBe(false);
    expect(await page.getByLabel('Delivery receipt (optional)').inputValue()).toBe('');
    expect(await verdictOf(page)).toBe('The job holds');
    expect(await holding(page)).toEqual([]);
  });

  it('shows no verdict of what was there before other files came', async () => {
    const { page } = await scene.open('/verify');
    await page.getByRole('button', { name: 'Choose files' }).waitFor();
    await give(page, 'drop', { 'answer.json': plain });
    await page.getByRole('button', { name: 'Remove answer.json' }).waitFor();
    const node = Promise.withResolvers<void>();
    await page.route(`${scene.stack.rpcUrl}/**`, async (route) => {
      await node.promise;
      await route.continue();
    });
    await page.getByRole('button', { name: 'Verify' }).click();
    await page.getByRole('button', { name: 'Verifying…' }).waitFor();
    await give(page, 'drop', { 'request.json': request });
    await page.getByRole('button', { name: 'Remove request.json' }).waitFor();
    node.resolve();
    await page.getByRole('button', { name: 'Verify', exact: true, disabled: false }).waitFor();
    expect(await page.getByRole('heading', { name: 'The job' }).count()).toBe(0);
    expect(await verdictOf(page)).toBe('The job holds');
  });

  it('takes the card of a model, and compares it with that of the job', async () => {
    const { page } = await open();
    const give = (card: object) => {
      const buffer = Buffer.from(JSON.stringify(card));
      const file = { name: 'card.json', mimeType: 'application/json', buffer };
      return page.locator('input[type=file]').setInputFiles(file);
    };
    await give(BUILTIN_CARD);
    await page.getByText("card.json is a model's card").waitFor();
    await page.getByRole('button', { name: 'Verify', exact: true }).click();
    await page.getByText(/; what ran is not shown/).waitFor({ state: 'attached' });
    await page.getByText('--card card.json').waitFor();

    await give({ ...BUILTIN_CARD, revision: 'another' });
    await page.getByRole('button', { name: 'Verify', exact: true }).click();
    await page.getByText(/^The card's hash is sha256:/).waitFor();
  });

  it('says of another text that the job holds, and leads with what fails', async () => {
    const { page } = await open();
    await page.getByLabel('Compare the text that I received').check();
    await page.getByLabel('Text', { exact: true }).fill('another text');

    expect(await verdictOf(page)).toBe('The job holds. Your text is not the proven one.');
    await page.getByLabel('Job', { exact: true }).fill('another job');
    const question = page.getByText(new RegExp(`^Asked: ${job} · wallet .* · your text$`));
    await page
      .getByRole('heading', { name: 'The same without a browser' })
      .scrollIntoViewIfNeeded();
    expect(await question.boundingBox()).toMatchObject({ y: 0 });
    const first = page.getByRole('region', { name: /^Checks: / }).first();
    expect(await first.getAttribute('aria-label')).toBe('Checks: What fails');
    expect(await first.locator('code').allTextContents()).toEqual(['delivery.output']);
  });

  it('takes hostile text as text, and names a node that is away', async () => {
    const { page, complaints } = await open();
    await page.getByLabel('Job', { exact: true }).fill('<img src=x onerror=alert(1)>');
    await page.getByRole('button', { name: 'Verify' }).click();

    await page.getByText('is neither a job id').waitFor();
    expect(await page.locator('img').count()).toBe(0);
    await page.getByLabel("Ledger's node").fill('http://127.0.0.1:9');
    await page.getByLabel('Job', { exact: true }).fill(job);
    await page.getByRole('button', { name: 'Verify' }).click();

    await page.getByText('The node does not answer this page').waitFor();
    expect(complaints.filter((text) => !/127\.0\.0\.1:9/.test(text))).toEqual([]);
  });

  it('has an origin of its own: no session, no storage, and not our API', async () => {
    const { page } = await scene.openAs('wallet', '/verify');

    const reached = await page.evaluate(REACH);

    expect(reached).toEqual(['null', 'SecurityError', 'TypeError']);
  });
});
