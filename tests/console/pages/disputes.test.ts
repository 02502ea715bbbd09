import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Connection, Keypair, PublicKey } from '@solana/web3.js';
import type { Page } from 'playwright-core';
import { fetchConfig, fetchGateway, gatewaySigners } from '../../../programs/client/accounts.ts';
import { createAddresses } from '../../../programs/client/addresses.ts';
import { DISPUTE_WINDOW_SECONDS } from '../../../programs/client/generated/constants.ts';
import { gatewayUpdate, workerRegister } from '../../../programs/client/instructions.ts';
import { parseJobId } from '../../../programs/client/jobId.ts';
import { formatReceipt, receiptMessage, signHashed } from '../../../programs/client/proof.ts';
import { statementOf } from '../../../programs/client/statement.ts';
import { associatedTokenAddress } from '../../../programs/client/token/instructions.ts';
import { advanceSeconds, stopClock } from '../../../testing/ledger/ledger.ts';
import { createStory } from '../../../testing/story.ts';
import { until } from '../../../testing/until.ts';
import { complete } from '../../stack/startedStack.ts';
import { startUpstream, type UpstreamServer } from '../../worker/upstreamServer.ts';
import {
  describeInBrowser,
  type OpenPage,
  type PageScene,
  settle,
  signAndSend,
} from './pageScene.ts';
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

let upstream: UpstreamServer;
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
});
afterAll(() => upstream.close());

describeInBrowser('hostile text in the web app', (openScene) => {
  let scene: PageScene;
  let keys: StackKeys;
  let opened: OpenPage;
  let page: Page;
  const dialogs: string[] = [];

  beforeAll(async () => {
    scene = await openScene({ WORKER_UPSTREAM_URL: upstream.url });
    keys = await openStackKeys(scene.stack);
    opened = await scene.openAs('wallet', '/console');
    page = opened.page;
    page.on('dialog', (dialog) => {
      // The playground asks before its conversation is left.
      if (dialog.type() === 'beforeunload') return void dialog.accept();
      dialogs.push(dialog.message());
      void dialog.dismiss();
    });
  });

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
    // As Markdown, the text between the stars is emphasized.
    expect(await page.getByRole('log').textContent()).toBe(`${HOSTILE}${LONG}`.replaceAll('*', ''));
    await expectText();
  });

  it('stays text as the endpoint of a worker', async () => {
    const stranger = new PublicKey(keys.address('stranger'));
    const programId = new PublicKey(scene.stack.programId);
    const ledger = new Connection(scene.stack.rpcUrl, 'confirmed');
    const addresses = createAddresses(programId);
    const config = await fetchConfig(ledger, addresses.config, { commitment: 'confirmed' });
    if (config === null) throw new Error('The ledger has no configuration');
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
  });

  it('stays text as a pasted job id, an address and the filters in a link', async () => {
    const text = encodeURIComponent(HOSTILE);
    const filters = ['status', 'model', 'since', 'until', 'id', 'kind', 'wallet', 'hours', 'days'];
    const query = filters.map((name) => `${name}=${text}`).join('&');
    for (const path of [
      `/console/jobs?${query}`,
      `/console/usage?${query}`,
      `/console/operator?${query}`,
      `/console/settings?${query}`,
      `/console/jobs/${text}`,
      `/console/jobs/job_${'0'.repeat(10_000)}`,
      `/console/workers/${text}`,
      `/verify/${text}#wallet=${text}&rpc=${text}&program=${text}`,
    ]) {
      await goTo(path);
      await settle(page);
      await expectText();
    }
  });
});

/** Of its charge the treasury has the credits that an upheld dispute gives back. */
const DEAR_MODEL = 'llama-3.3-70b-instruct';
const CLIENT_TEXT = 'Another text than the proven one.';

describeInBrowser('a dispute', (openScene) => {
  const it = createStory();
  let scene: PageScene;
  let client: Page;
  let arbiter: Page;
  let job: string;
  let signer: Keypair;

  beforeAll(async () => {
    scene = await openScene({ WORKER_UPSTREAM_URL: upstream.url });
    await complete(scene.stack, { from: DEAR_MODEL });
    ({ job } = await complete(scene.stack));
    // Its dispute window lasts until a test lets it end.
    await stopClock(new Connection(scene.stack.rpcUrl, 'confirmed'));
    signer = await addSigner(scene);
    const opened = await Promise.all([
      scene.openAs('wallet', `/console/jobs/${job}`),
      scene.openAs('arbiter', '/console/arbiter'),
    ]);
    [client, arbiter] = opened.map(({ page }) => page) as [Page, Page];
  });

  it('is opened by the client and seen by the arbiter', async () => {
    await client.getByLabel('The text that you received').fill(CLIENT_TEXT);
    await client.getByRole('button', { name: 'Open a dispute' }).click();

    await client.getByText('Dispute open', { exact: true }).waitFor();
    const { page: list } = await scene.openAs('wallet', '/console/jobs');
    await list.getByLabel('State', { exact: true }).selectOption('disputed');
    const rows = list.getByRole('row').filter({ hasText: /job_…/ });
    await until(async () => (await rows.count()) === 1);
    expect(await rows.textContent()).toContain(job.slice(-8));
    await list.close();
    await arbiter.reload();
    await arbiter
      .getByRole('row')
      .filter({ hasText: job.slice(-8) })
      .waitFor();
  });

  it('is judged in the page only with evidence that convicts', async () => {
    await arbiter.getByRole('button', { name: job.slice(-8) }).click();
    const drawer = arbiter.getByRole('dialog', { name: job });
    await drawer.getByLabel('Verdict').selectOption('upheld_gateway');
    const decide = drawer.getByRole('button', { name: 'See what the verdict does' });
    const field = drawer.getByLabel("The svc of the client's answer");
    await field.fill('<b>no receipt</b>');
    await drawer.getByText('This is not the svc of an answer').waitFor();
    expect(await decide.isDisabled()).toBe(true);
    await field.fill(svcFor((await complete(scene.stack)).job, scene, signer));
    await drawer.getByText('The receipt was not signed for this job').waitFor();
    expect(await decide.isDisabled()).toBe(true);

    await field.fill(svcFor(job, scene, signer));

    await drawer.getByText("signed that the client's text was delivered").waitFor();
    expect(await decide.isEnabled()).toBe(true);
  });

  it('shows its client the credits without a reload once it is upheld', async () => {
    await client.goto(`${scene.stack.baseUrl}/console/credits`);
    const before = await readAvailable(client);
    const { page: watcher } = await scene.openAs('wallet', `/console/jobs/${job}`);
    const watched = watcher.getByRole('dialog', { name: job });
    await watched.getByText('Dispute open', { exact: true }).waitFor();
    const ledger = new Connection(scene.stack.rpcUrl, 'confirmed');
    await advanceSeconds(ledger, DISPUTE_WINDOW_SECONDS + 1);
    await arbiter.getByRole('button', { name: 'See what the verdict does' }).click();
    await arbiter.getByText('2 credits are owed to the wallet.').waitFor();
    await signAndSend(arbiter);

    await arbiter.getByText(`Decide ${job}: confirmed.`).waitFor();
    await arbiter.getByText('No open dispute').waitFor();
    const balance = client.getByRole('region', { name: 'Balance' });
    await balance.getByText(`${(before + 2n).toLocaleString('en-US')} credits`).waitFor();
    await watched.getByText('Dispute upheld', { exact: true }).waitFor();
  });
});

async function readAvailable(credits: Page): Promise<bigint> {
  const balance = credits.getByRole('region', { name: 'Balance' });
  const text = (await balance.getByText(/^[\d,]+ credits/).textContent()) ?? '';
  return BigInt(text.split(' ')[0]?.replaceAll(',', '') ?? '');
}

/** The `svc` that the gateway's signer gave a client that received the other text. */
function svcFor(job: string, { stack }: PageScene, signer: Keypair): string {
  const programId = new PublicKey(stack.programId);
  const addresses = createAddresses(programId);
  const account = addresses.creditAccount(new PublicKey(stack.wallet));
  const half = Buffer.alloc(32, 7);
  const message = receiptMessage({
    programId,
    job: addresses.job(account, parseJobId(job) ?? new Uint8Array()),
    outputHash: createHash('sha256').update(CLIENT_TEXT).digest(),
    statement: statementOf({ requestCommitment: half, answerDetails: half }),
  });
  return JSON.stringify({
    delivery_receipt: formatReceipt(signer.publicKey, signHashed(message, signer)),
    ...{ request_commitment: half.toString('hex'), answer_details: half.toString('hex') },
  });
}

/** Has the gateway's operator name one more hot signer, whose receipts then bind the gateway. */
async function addSigner({ stack }: PageScene): Promise<Keypair> {
  const ledger = new Connection(stack.rpcUrl, 'confirmed');
  const { gateway: address } = (await (
    await fetch(`${stack.baseUrl}/console/api/config`)
  ).json()) as { gateway: string };
  const gateway = await fetchGateway(ledger, new PublicKey(address), { commitment: 'confirmed' });
  if (gateway === null) throw new Error('The stack has no gateway');
  const signer = Keypair.generate();
  const signers = [...gatewaySigners(gateway), signer.publicKey];
  const update = gatewayUpdate({ operator: gateway.operator, signers, stopped: false });
  await (await openStackKeys(stack)).submit('gateway operator', [update]);
  return signer;
}
