import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import {
  chromiumPath,
  complete,
  openPageScene,
  type PageScene,
  type Received,
} from './pageScene.ts';

jest.setTimeout(120_000);

/** What a page says of its origin, its cookies, and whether our API answers it. */
const REACH = `(async () => {
  const named = (work) => work.then(String, (error) => error.name);
  return [
    window.origin,
    await named(Promise.resolve().then(() => document.cookie)),
    await named(fetch('/console/api/session', { credentials: 'include' })),
  ];
})()`;

if (chromiumPath === undefined) {
  it.skip('Verify in the browser (NOT CHECKED: Chromium is not installed)', () => undefined);
} else {
  describeVerify(chromiumPath);
}

function describeVerify(executablePath: string): void {
  describe('Verify in the browser', () => {
    let scene: PageScene;
    let received: Received;

    beforeAll(async () => {
      scene = await openPageScene(executablePath);
      received = await complete(scene.stack);
    });

    afterAll(() => scene?.close());

    const openJob = () => scene.open(`/verify/${received.job}#wallet=${scene.stack.wallet}`);
    const verdict = (page: Awaited<ReturnType<typeof openJob>>['page']) =>
      page.getByRole('status').filter({ has: page.getByRole('heading') });

    it('verifies a job with its text and receipt by the node alone', async () => {
      const { page, complaints } = await openJob();
      const asked: string[] = [];
      page.on('request', (request) => {
        const { origin, pathname } = new URL(request.url());
        if (!pathname.startsWith('/console/assets/')) asked.push(origin);
      });
      await page.getByLabel('Compare the text that I received').check();
      await page.getByLabel('Text', { exact: true }).fill(received.text);
      await page.getByLabel('Delivery receipt (optional)').fill(received.receipt);
      await page.getByRole('button', { name: 'Verify' }).click();

      await verdict(page).getByText('The job holds').waitFor();
      expect(await page.getByText('delivery.output').count()).toBe(1);
      expect(await page.getByText('delivery.receipt').count()).toBe(1);
      expect(new Set(asked)).toEqual(new Set([new URL(scene.stack.rpcUrl).origin]));
      expect(complaints).toEqual([]);
    });

    it('refuses another text', async () => {
      const { page } = await openJob();
      await page.getByLabel('Compare the text that I received').check();
      await page.getByLabel('Text', { exact: true }).fill(`${received.text} and more`);
      await page.getByRole('button', { name: 'Verify' }).click();

      await verdict(page).getByText('The job fails').waitFor();
    });

    it('compares two nodes', async () => {
      const { page } = await openJob();
      await page.getByLabel('Second node (optional)').fill(scene.stack.rpcUrl);
      await page.getByRole('button', { name: 'Verify' }).click();

      await page.getByText('Both nodes show the same').waitFor();
    });

    it('shows the command that says the same', async () => {
      const { page } = await openJob();

      const command = `npx svc verify ${received.job} --rpc ${scene.stack.rpcUrl}`;
      expect(await page.getByText(command).count()).toBe(1);
    });

    it('takes hostile text as text, and names a node that is away', async () => {
      const { page, complaints } = await openJob();
      await page.getByLabel('Job', { exact: true }).fill('<img src=x onerror=alert(1)>');
      await page.getByRole('button', { name: 'Verify' }).click();

      await page.getByText('is neither a job id').waitFor();
      expect(await page.locator('img').count()).toBe(0);
      await page.getByLabel("Ledger's node").fill('http://127.0.0.1:9');
      await page.getByLabel('Job', { exact: true }).fill(received.job);
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
}
