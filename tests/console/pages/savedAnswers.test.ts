import { tmpdir } from 'node:os';
import { beforeAll, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { describeInBrowser, type PageScene } from './pageScene.ts';

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

describeInBrowser('Verify of a saved answer', (openScene) => {
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
    expect(await verdictOf(page)).toBe('The job holds');
    expect(await holding(page)).toEqual([
      ...['delivery.output', 'delivery.receipt', 'delivery.request', 'delivery.answer'],
    ]);
    expect([...asked]).toEqual([new URL(scene.stack.rpcUrl).origin]);
    expect(complaints).toEqual([]);
  });

  it('takes files by its button, with the keyboard, and says what differs', async () => {
    const { page } = await scene.open('/verify');
    const choosing = page.waitForEvent('filechooser');
    await page.getByRole('button', { name: 'Choose files' }).press('Enter');
    const answer = JSON.parse(plain);
    answer.choices[0].message.content += '\n';
    const changed = { ...JSON.parse(request), temperature: 1 };
    await (await choosing).setFiles([
      { name: 'a.json', mimeType: '', buffer: Buffer.from(JSON.stringify(answer)) },
      { name: 'r.json', mimeType: '', buffer: Buffer.from(JSON.stringify(changed)) },
    ]);
    await page.getByText(`a.json is the answer of ${job}.`).waitFor();

    expect(await verdictOf(page)).toBe(
      'The job holds. Your text is not the proven one. Your question is not the proven one.',
    );
    await page.getByText('only in this: a newline at the end.').first().waitFor();
  });

  it('takes what is pasted outside of a field, and lets it go again', async () => {
    const { page } = await scene.open('/verify');
    const status = page.getByRole('region', { name: FILES }).getByRole('status');
    await status.waitFor({ state: 'attached' });
    expect(await give(page, 'paste', { 'text/plain': plain }, '[data-search]')).toBe(true);
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

  it('takes the job of an error, and says that there is no text', async () => {
    const { page } = await scene.open('/verify');
    await page.getByRole('button', { name: 'Choose files' }).waitFor();
    const error = { error: { message: '<b>No worker</b>' }, svc: { job_id: job } };
    await give(page, 'drop', { 'error.json': JSON.stringify(error) });
    await page
      .getByRole('alert')
      .getByText('error.json cannot be used. It is an error, not an answer. It says: <b>No')
      .waitFor();
    expect(await page.getByLabel('Job', { exact: true }).inputValue()).toBe(job);
    expect(await verdictOf(page)).toBe('The job holds');
  });

  it('says which files cannot be read, such as a folder', async () => {
    const { page, complaints } = await scene.open('/verify');
    await page.getByRole('button', { name: 'Choose files' }).waitFor();
    const browser = await page.context().newCDPSession(page);
    const { root } = await browser.send('DOM.getDocument');
    const selector = 'input[type=file]';
    const { nodeId } = await browser.send('DOM.querySelector', { nodeId: root.nodeId, selector });
    await browser.send('DOM.setFileInputFiles', { nodeId, files: [tmpdir()] });
    await page.getByRole('alert').getByText(' cannot be read.').waitFor();
    expect(complaints).toEqual([]);
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

  it('compares no other job with what the answer says', async () => {
    const { page } = await scene.open('/verify');
    await page.getByRole('button', { name: 'Choose files' }).waitFor();
    await give(page, 'drop', { 'answer.json': plain });
    const remove = page.getByRole('button', { name: 'Remove answer.json' });
    await remove.waitFor();
    await page.getByLabel('Job', { exact: true }).fill(job.replace(/.$/, 'x'));
    await remove.waitFor({ state: 'detached' });
    // What it brought is of its own job.
    expect(await page.getByLabel('Compare the text that I received').isChecked()).toBe(false);
    expect(await page.getByLabel('Wallet').inputValue()).toBe('');
    expect(await page.getByLabel('Delivery receipt (optional)').inputValue()).toBe('');
  });

  it.each(['light', 'dark'] as const)('fits a page of 390 px, %s', async (colorScheme) => {
    const viewport = { width: 390, height: 844 };
    const { page } = await scene.open('/verify', { viewport, colorScheme });
    await page.getByRole('button', { name: 'Choose files' }).waitFor();
    const file = `${'a'.repeat(80)}.json`;
    await give(page, 'drop', { [file]: plain, 'request.json': request, 'x.txt': 'x' });
    await page.getByRole('button', { name: 'Remove request.json' }).waitFor();
    expect(await verdictOf(page)).toBe('The job holds');
    const width = await page.evaluate('document.documentElement.scrollWidth');
    expect(width).toBe(viewport.width);
  });
});
