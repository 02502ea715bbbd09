import { beforeAll, expect, it } from '@jest/globals';
import { addJobs } from '../../../bench/console/jobs.ts';
import { createPool } from '../../../common/postgres.ts';
import type { StackDescription } from '../../../stack/stackFile.ts';
import { until } from '../../../testing/until.ts';
import { complete, describeInBrowser, type PageScene } from './pageScene.ts';

const JOBS = 3;
/** Places of bars: the first one that is chosen, and the first one behind them. */
const PULL = { from: 3, end: 6 };

describeInBrowser('the log of jobs', (openScene) => {
  let scene: PageScene;

  beforeAll(async () => {
    scene = await openScene();
    for (let made = 0; made < JOBS; made += 1) await complete(scene.stack);
  });

  it('has bars that narrow it to their time, by mouse and by keyboard, and a table of them', async () => {
    const { page, complaints } = await scene.openAs('wallet', '/console/jobs');
    const table = page.getByRole('table', { name: 'Jobs', exact: true });
    const histogram = page.getByRole('region', { name: 'Jobs by time', exact: true });
    const bars = histogram.getByRole('button', { name: /settled\. Show these alone$/ });
    await bars.first().waitFor();
    const names = await bars.evaluateAll((all) => all.map((bar) => bar.getAttribute('aria-label')));
    const settled = names.map((name) => Number(/: (\d+) settled/.exec(name ?? '')?.[1]));
    expect(settled.reduce((sum, count) => sum + count, 0)).toBe(JOBS);
    const newest = settled.at(-1) ?? 0;

    await bars.last().click();

    await page.waitForURL(/since=.*&until=/);
    const since = new URL(page.url()).searchParams.get('since') ?? '';
    expect(names.at(-1)).toContain(since.replace('T', ' '));
    await until(async () => (await table.getByRole('row').count()) === 1 + newest);

    await page.reload();
    expect(await page.getByLabel('From (UTC)').inputValue()).toBe(since);
    await histogram.getByRole('button', { name: 'Every time' }).click();
    await page.waitForURL((url) => url.search === '');
    await bars.last().press('Enter');
    await page.waitForURL(/since=/);
    await histogram.getByRole('button', { name: 'As a table' }).click();
    const cells = histogram.getByRole('row').last().getByRole('cell');
    expect(await cells.allTextContents()).toEqual([
      since.replace('T', ' '),
      String(newest),
      '0',
      '0',
      '0',
    ]);
    expect(complaints).toEqual([]);
  });

  it('has the keyboard at a row again when its job is closed that the mouse opened', async () => {
    const { page } = await scene.openAs('wallet', '/console/jobs');
    const row = page.locator('[data-row="1"]');
    await row.getByText('settled').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Verify', exact: true }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });

    const link = row.getByRole('link');
    await until(() => link.evaluate((one) => one === one.ownerDocument.activeElement));
  });

  it('is narrowed to the bars that were pulled over, by mouse and by keyboard', async () => {
    await addOldJobs(scene.stack);
    const { page, complaints } = await scene.openAs('wallet', '/console/jobs');
    const histogram = page.getByRole('region', { name: 'Jobs by time', exact: true });
    const bars = histogram.getByRole('button', { name: /Show these alone$/ });
    await bars.nth(PULL.end).waitFor();
    const startOf = async (place: number) =>
      (await bars.nth(place).getAttribute('aria-label'))?.slice(0, 'yyyy-mm-dd hh:mm'.length) ?? '';
    const [since, before] = [await startOf(PULL.from), await startOf(PULL.end)];
    const middleOf = async (place: number) => {
      const { x = 0, y = 0, width = 0 } = (await bars.nth(place).boundingBox()) ?? {};
      return [x + width / 2, y + 10] as const;
    };
    const query = new URLSearchParams({
      since: since.replace(' ', 'T'),
      until: before.replace(' ', 'T'),
    });

    await page.mouse.move(...(await middleOf(PULL.from)));
    await page.mouse.down();
    // Who pulls does not keep to the height of a bar.
    const [x, y] = await middleOf(PULL.end - 1);
    await page.mouse.move(x, y + 150, { steps: 5 });
    await histogram.getByText(`${since} to ${before} UTC`, { exact: true }).waitFor();
    await page.mouse.up();
    await page.waitForURL((url) => url.search === `?${query}`);

    await histogram.getByRole('button', { name: 'Every time' }).click();
    await page.waitForURL((url) => url.search === '');
    await bars.nth(PULL.end).waitFor();
    await bars.nth(PULL.from).focus();
    await page.keyboard.press('Shift+ArrowLeft');
    await page.keyboard.press('Escape');
    await page.keyboard.press('ArrowRight');
    for (let place = PULL.from + 1; place < PULL.end; place += 1) {
      await page.keyboard.press('Shift+ArrowRight');
    }
    const chosen = histogram.getByRole('button', { name: `${since} to ${before}: ` });
    expect(await chosen.evaluate((bar) => bar === bar.ownerDocument.activeElement)).toBe(true);
    await page.keyboard.press('Enter');
    await page.waitForURL((url) => url.search === `?${query}`);
    expect(complaints).toEqual([]);
  });
});

/** Jobs of thirty days, so that there are bars. */
async function addOldJobs({ databaseUrl, wallet, model }: StackDescription): Promise<void> {
  const pool = createPool({ databaseUrl, applicationName: 'test' });
  await addJobs(pool, { wallet, count: 100, models: [model] });
  await pool.end();
}
