import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Connection, Keypair, PublicKey } from '@solana/web3.js';
import type { Page } from 'playwright-core';
import { fetchConfig } from '../../../programs/client/accounts.ts';
import { createAddresses } from '../../../programs/client/addresses.ts';
import { modelUpsert, workerRegister } from '../../../programs/client/instructions.ts';
import { associatedTokenAddress } from '../../../programs/client/token/instructions.ts';
import { until } from '../../../testing/until.ts';
import { startUpstream, type UpstreamServer } from '../../worker/upstreamServer.ts';
import { describeInBrowser, type OpenPage, type PageScene } from './pageScene.ts';
import { openStackKeys, type StackKeys } from './stackKeys.ts';

const TAGS = '<img src=x onerror="alert(1)"><script>alert(2)</script>';
// biome-ignore lint/suspicious/noTemplateCurlyInString: it must not be filled in anywhere
const TEMPLATES = '{{7*7}} ${7*7} javascript:alert(3)';
/** Turns what follows around, where it is not kept apart. */
const TURNED = '\u202etxet \u2066\u200f';
const LONG = 'x'.repeat(10_000);
const HOSTILE = `${TAGS} ${TEMPLATES} ${TURNED}`;
/** Printable ASCII, as the ledger takes it. */
const ENDPOINT = `javascript:alert(4)//"><img src=x onerror=alert(5)>{{7*7}}`;
const MODEL = '"><img src=x onerror=alert(6)>';

describeInBrowser('hostile text in the web app', (openScene) => {
  let scene: PageScene;
  let upstream: UpstreamServer;
  let keys: StackKeys;
  let opened: OpenPage;
  let page: Page;
  const dialogs: string[] = [];

  beforeAll(async () => {
    upstream = await startUpstream();
    upstream.answerWith((reply) => {
      reply.text(HOSTILE);
      reply.text(LONG);
      reply.finish('stop');
      reply.usage(10, 20);
      reply.done();
      reply.end();
    });
    scene = await openScene({ WORKER_UPSTREAM_URL: upstream.url });
    keys = await openStackKeys(scene.stack);
    opened = await scene.openAs('wallet', '/console');
    page = opened.page;
    page.on('dialog', (dialog) => {
      dialogs.push(dialog.message());
      void dialog.dismiss();
    });
  });

  afterAll(() => upstream?.close());

  const goTo = (path: string) => page.goto(`${scene.stack.baseUrl}${path}`);
  /** Nothing of it became an element, a link to elsewhere or a program. */
  const expectText = async () => {
    expect(await page.locator('#root img, [role=dialog] img').count()).toBe(0);
    const links = (await page.evaluate(
      '[...document.querySelectorAll("a[href]")].map(({ href }) => href)',
    )) as string[];
    const foreign = links.filter((link) => !link.startsWith(`${scene.stack.baseUrl}/`));
    expect(foreign.filter((link) => !link.startsWith('https://'))).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    expect([dialogs, opened.complaints]).toEqual([[], []]);
  };

  it('stays text as a prompt, an answer and the code that repeats it', async () => {
    await goTo('/console/playground');
    await page.getByLabel('Message').fill(HOSTILE + LONG);
    await page.getByRole('button', { name: 'Show as code' }).click();
    const code = await page.getByRole('region', { name: 'curl code' }).textContent();
    expect(code).toContain('<script>alert(2)</script>');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByRole('button', { name: 'Verify this answer' }).click();

    await page.getByText('The job holds').waitFor();
    expect(await page.getByRole('log').textContent()).toBe(HOSTILE + LONG);
    await expectText();
  });

  it('stays text as the endpoint of a worker and the name of a model', async () => {
    const stranger = new PublicKey(keys.address('stranger'));
    const programId = new PublicKey(scene.stack.programId);
    const ledger = new Connection(scene.stack.rpcUrl, 'confirmed');
    const addresses = createAddresses(programId);
    const config = await fetchConfig(ledger, addresses.config, { commitment: 'confirmed' });
    if (config === null) throw new Error('The ledger has no configuration');
    await keys.submit('operator', [
      modelUpsert({
        authority: config.authority,
        id: MODEL,
        tier: 'lite',
        label: '<b>8B</b>',
        originator: TEMPLATES.slice(0, 32),
        contextWindowTokens: 8_192,
        creditsPerRequest: 1,
        creditsPer1kTokens: 1,
        longCompletionThresholdTokens: 1_000,
      }),
    ]);
    await keys.submit('stranger', [
      workerRegister({
        authority: stranger,
        payout: associatedTokenAddress(config.creditMint, stranger),
        proofKey: Keypair.generate().publicKey,
        endpoint: ENDPOINT,
      }),
    ]);
    const worker = addresses.worker(stranger).toBase58();
    await until(async () => {
      const { ok } = await fetch(`${scene.stack.baseUrl}/console/api/workers/${worker}`);
      return ok;
    });

    await goTo(`/console/workers/${worker}`);
    await page.getByText(ENDPOINT).waitFor();
    await expectText();
    await goTo('/console/models');
    await page.getByRole('table').getByText(MODEL).waitFor();
    await page.getByText('<b>8B</b>').waitFor();
    await expectText();
    for (const path of ['/console/jobs', '/console/playground']) {
      await goTo(path);
      await page.getByLabel('Model').selectOption(MODEL);
      await expectText();
    }
  });

  it('stays text as a pasted job id, an address and the filters in a link', async () => {
    const text = encodeURIComponent(HOSTILE);
    const filters = ['status', 'model', 'since', 'until', 'id', 'kind', 'wallet', 'hours', 'days'];
    const query = filters.map((name) => `${name}=${text}`).join('&');
    for (const path of [
      `/console/jobs?${query}`,
      `/console/jobs?id=${text}`,
      `/console/jobs?since=${text}`,
      `/console/usage?${query}`,
      `/console/operator?${query}`,
      `/console/settings?${query}`,
      `/console/jobs/${text}`,
      `/console/jobs/job_${'0'.repeat(10_000)}`,
      `/console/workers/${text}`,
      `/console/settings/webhooks/${text}`,
      `/verify/${text}#wallet=${text}&rpc=${text}&program=${text}`,
    ]) {
      await goTo(path);
      await page.locator('h1').waitFor();
      await page.waitForLoadState('networkidle', { timeout: 30_000 }).catch(() => undefined);
      await expectText();
    }
    await goTo('/console/jobs');
    await page.getByLabel('Job id').fill(HOSTILE + LONG);
    await page.getByText('job_ and 32 hexadecimal digits.').waitFor();
    await expectText();
  });
});
