import { beforeAll, expect, it } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import BUILTIN_CARD from '../../../stack/modelCards/builtin.json' with { type: 'json' };
import { execute } from '../../../testing/database/database.ts';
import { until } from '../../../testing/until.ts';
import { complete } from '../../stack/startedStack.ts';
import { describeInBrowser, type PageScene, settle } from './pageScene.ts';

const PHONE = { viewport: { width: 390, height: 800 } } as const;

describeInBrowser('a phone', (openScene) => {
  let scene: PageScene;

  beforeAll(async () => {
    scene = await openScene();
    await complete(scene.stack);
  });

  /** The place of what a row shows, within the row. */
  async function placeIn(row: Locator, text: string | RegExp) {
    const [whole, part] = await Promise.all([
      row.boundingBox(),
      row.getByText(text).first().boundingBox(),
    ]);
    if (!whole || !part) throw new Error(`No ${text} in the row`);
    return { top: part.y - whole.y, right: part.x + part.width };
  }

  const overflow = (page: Page) =>
    page
      .getByRole('region')
      .evaluateAll((regions) => regions.map((one) => one.scrollWidth - one.clientWidth));

  it.each([
    ['stranger', 'models', /answering/, /USDC/, '131,072'],
    ['stranger', 'workers', /answering/, /%/, /qwen3-14b/],
    ['stranger', 'status', 'works', 'works', /Without it the API/],
    ['wallet', 'usage', /^1 jobs?$/, '0 jobs', undefined],
    ['wallet', 'credits', 'Job completed', /^[\d,]+$/, undefined],
    ['operator', 'operator', 'active', 'Suspend…', /ago/],
  ] as const)('of a %s shows first on %s what matters', async (account, path, one, other, last) => {
    const { page } = await scene.openAs(account, `/console/${path}`, PHONE);
    const row = page.getByRole('row').nth(1);
    await row.waitFor();
    await settle(page);
    const [first, second] = [await placeIn(row, one), await placeIn(row, other)];
    expect([first.top, second.top].every((top) => top < 60)).toBe(true);
    expect(Math.max(first.right, second.right)).toBeLessThanOrEqual(390);
    if (last) expect((await placeIn(row, last)).top).toBeGreaterThan(second.top);
    expect((await overflow(page)).every((pixels) => pixels <= 0)).toBe(true);
  });

  it('reads titles of a table that it does not show to assistive technology', async () => {
    const { page } = await scene.open('/console/models', PHONE);
    await page.getByRole('columnheader', { name: 'Per request' }).waitFor({ state: 'attached' });
    expect(await page.getByRole('table').count()).toBe(1);
  });
});

describeInBrowser('the page of a model', (openScene) => {
  let scene: PageScene;
  let job: string;

  beforeAll(async () => {
    scene = await openScene();
    ({ job } = await complete(scene.stack));
  });

  it('has its price, its days, its workers and its card', async () => {
    const { model } = scene.stack;
    const { page, complaints } = await scene.open('/console/models');
    await page.getByRole('link', { name: model }).click();
    await page.getByRole('heading', { level: 1, name: model }).waitFor();
    await page.getByText('Up to 500 tokens').waitFor();
    await page.getByText('A text of 501 tokens costs fewer credits').waitFor();
    expect(await page.getByRole('row').count()).toBe(3);
    await page.getByText('the built-in engine of @svc-inference/cli').waitFor();
    await page.getByText(/no stake is slashed for it/).waitFor();
    const bars = page.getByRole('img', { name: 'Median first token by day, 90 days' });
    await until(async () => (await bars.locator('[title*="median"]').count()) === 1);
    const days = page.getByRole('img', { name: 'Days in which its workers answered, 90 days' });
    expect(await days.locator('[title*="probes answered"]').count()).toBe(1);
    expect(complaints).toEqual([]);
  });

  it('gives its card, which Verify compares with what a job was locked for', async () => {
    const { page } = await scene.open(`/verify/${job}#wallet=${scene.stack.wallet}`);
    const buffer = Buffer.from(JSON.stringify(BUILTIN_CARD));
    const files = page.locator('input[type=file]');
    await files.setInputFiles({ name: 'card.json', mimeType: 'application/json', buffer });
    await page.getByText("card.json is a model's card").waitFor();
    await page.getByRole('button', { name: 'Verify', exact: true }).click();
    await page.getByText(/; what ran is not shown/).waitFor({ state: 'attached' });
    await page.getByText('--card card.json').waitFor();

    const other = Buffer.from(JSON.stringify({ ...BUILTIN_CARD, revision: 'another' }));
    await files.setInputFiles({ name: 'card.json', mimeType: 'application/json', buffer: other });
    await page.getByRole('button', { name: 'Verify', exact: true }).click();
    await page.getByText(/^The card's hash is sha256:/).waitFor();
  });

  it('keeps its card pinned when an operator changes its price', async () => {
    const { page } = await scene.openAs('operator', '/console/operator');
    const row = page.getByRole('row').filter({ hasText: scene.stack.model });
    await row.getByRole('button', { name: 'Change…' }).click();
    const field = page.getByLabel('Hash of its card');
    const hash = await field.inputValue();
    expect(hash).toMatch(/^sha256:[0-9a-f]{64}$/);
    await page.getByLabel('Credits per request').fill('3');
    await page.getByRole('button', { name: 'See what it does' }).click();
    await page.getByText(`Its card is pinned as ${hash}.`).waitFor();
  });

  it('says that there is none of an id that no model has', async () => {
    const { page } = await scene.open('/console/models/none');
    await page.getByText('No model has this id.').waitFor();
  });
});

describeInBrowser('the history on Status', (openScene) => {
  let scene: PageScene;

  beforeAll(async () => {
    scene = await openScene();
    await execute(
      scene.stack.databaseUrl,
      `insert into service.readiness_minutes
       select date_trunc('day', now(), 'UTC') - interval '1 day' + minute * interval '1 minute',
         case when minute < 3 then '{workers}'::text[] else '{}' end
       from generate_series(0, 9) as minute`,
    );
  });

  it('has each part by day, and what was recorded of incidents', async () => {
    const { page } = await scene.open('/console/status');
    const workers = page.getByRole('img', { name: /workers worked/ });
    await workers.locator('[title$="7 of 10 minutes it worked"]').waitFor();
    const database = page.getByRole('img', { name: /database worked/ });
    await database.locator('[title$="10 of 10 minutes it worked"]').waitFor();
    const incidents = page.getByRole('table', { name: 'Incidents' });
    await incidents.getByRole('row').filter({ hasText: 'workers' }).getByText('3 min').waitFor();
  });
});
