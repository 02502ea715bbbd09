import { beforeAll, expect, it } from '@jest/globals';
import pg from 'pg';
import { complete, describeInBrowser, type PageScene, type Received } from './pageScene.ts';

/** What a page says of its origin, its cookies, and whether our API answers it. */
const REACH = `(async () => {
  const named = (work) => work.then(String, (error) => error.name);
  return [
    window.origin,
    await named(Promise.resolve().then(() => document.cookie)),
    await named(fetch('/console/api/session', { credentials: 'include' })),
  ];
})()`;

/** Ends all connections to the database of the service, which takes no others from then on. */
async function closeDatabase({ stack }: PageScene): Promise<void> {
  const url = new URL(stack.databaseUrl);
  const name = url.pathname.slice(1);
  url.pathname = '/template1';
  const server = new pg.Client(url.href);
  await server.connect();
  await server.query(`alter database ${pg.escapeIdentifier(name)} allow_connections false`);
  await server.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [
    name,
  ]);
  await server.end();
}

describeInBrowser('Verify in the browser', (openScene) => {
  let scene: PageScene;
  let received: Received;

  beforeAll(async () => {
    scene = await openScene();
    received = await complete(scene.stack);
  });

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

  it('has the navigation in its document, which needs no script, on a narrow page too', async () => {
    const { page } = await scene.open('/verify', { javaScriptEnabled: false });
    const navigation = page.getByRole('navigation', { name: 'Pages' });
    const here = navigation.locator('[aria-current=page]');
    expect(await here.allTextContents()).toEqual(['Verify']);

    await page.setViewportSize({ width: 390, height: 844 });
    expect(await navigation.isVisible()).toBe(false);
    await page.getByRole('button', { name: 'Open the menu' }).click();
    await navigation.getByRole('link', { name: 'Models' }).click();
    await page.waitForURL(`${scene.stack.baseUrl}/console/models`);
  });

  it('leaves the navigation where it was once its script has run', async () => {
    const { page } = await openJob();
    await page.getByRole('heading', { level: 1 }).waitFor();

    expect(await page.getByRole('navigation', { name: 'Pages' }).count()).toBe(1);
    expect(await page.getByRole('main').getByRole('heading', { level: 1 }).count()).toBe(1);
    await page.getByRole('link', { name: 'Jobs' }).click();
    await page.waitForURL(`${scene.stack.baseUrl}/console/jobs`);
  });

  it('has an origin of its own: no session, no storage, and not our API', async () => {
    const { page } = await scene.openAs('wallet', '/verify');

    const reached = await page.evaluate(REACH);

    expect(reached).toEqual(['null', 'SecurityError', 'TypeError']);
  });

  it('is served and verifies while the database of the service is down', async () => {
    await closeDatabase(scene);
    const client = new pg.Client(scene.stack.databaseUrl);
    await expect(client.connect()).rejects.toThrow('is not currently accepting connections');

    const { page, complaints } = await openJob();
    await page.getByRole('button', { name: 'Verify' }).click();

    await verdict(page).getByText('The job holds').waitFor();
    expect(complaints).toEqual([]);
  });
});
