import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { Page } from 'playwright-core';
import { APP_PATHS } from '../../../console/routes.ts';
import { chromiumPath, openPageScene, type PageScene } from './pageScene.ts';

jest.setTimeout(180_000);

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const THEMES = ['light', 'dark'] as const;
const NARROW = { width: 320, height: 720 };

if (chromiumPath === undefined) {
  it.skip('accessibility of the pages (NOT CHECKED: Chromium is not installed)', () => undefined);
} else {
  describeAccessibility(chromiumPath);
}

/** What axe finds, each rule with the elements at fault. */
async function findFaults(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  return page.evaluate(`axe.run().then(({ violations }) => violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => id + ': ' + html.slice(0, 160) + ' ' + failureSummary)))`);
}

const settle = (page: Page) => page.waitForLoadState('networkidle').catch(() => undefined);

function describeAccessibility(executablePath: string): void {
  describe('the pages', () => {
    let scene: PageScene;
    let worker: string;

    beforeAll(async () => {
      scene = await openPageScene(executablePath);
      const { data } = (await (
        await fetch(`${scene.stack.baseUrl}/console/api/workers`)
      ).json()) as {
        data: { address: string }[];
      };
      worker = data[0]?.address ?? '';
    });

    afterAll(() => scene?.close());

    const paths = () => [
      ...APP_PATHS.filter((path) => !/:(job|webhook)/.test(path)).map((path) =>
        path.replace(':worker', worker),
      ),
      '/verify',
    ];
    /** The policy of the pages refuses the script of a test. */
    const visit = (theme: (typeof THEMES)[number], more = {}) =>
      scene.openAs('wallet', '/console', { colorScheme: theme, bypassCSP: true, ...more });

    it.each(THEMES)('have nothing that axe finds, in the %s theme', async (theme) => {
      const { page } = await visit(theme);
      const faults: string[] = [];
      for (const path of paths()) {
        await page.goto(`${scene.stack.baseUrl}${path}`);
        await page.getByRole('heading', { level: 1 }).waitFor();
        await settle(page);
        faults.push(...(await findFaults(page)).map((fault) => `${path} ${fault}`));
      }
      expect(faults).toEqual([]);
    });

    it('have nothing that axe finds with a dialog open', async () => {
      const { page } = await visit('light');
      const dialogs = [
        ['/console/credits', 'Buy credits…'],
        ['/console/credits', 'Change the limits…'],
        ['/console/settings', 'Add a webhook'],
        ['/console/settings', 'Replace…'],
        ['/console', 'Search (⌘K)'],
      ] as const;
      const faults: string[] = [];
      for (const [path, name] of dialogs) {
        await page.goto(`${scene.stack.baseUrl}${path}`);
        await page.getByRole('button', { name }).first().click();
        await page.getByRole('dialog').waitFor();
        faults.push(...(await findFaults(page)).map((fault) => `${name} ${fault}`));
      }
      expect(faults).toEqual([]);
    });

    it('never scroll sideways at 320 px', async () => {
      const { page } = await visit('light', { viewport: NARROW });
      const wide: string[] = [];
      for (const path of paths()) {
        await page.goto(`${scene.stack.baseUrl}${path}`);
        await page.getByRole('heading', { level: 1 }).waitFor();
        await settle(page);
        const width = await page.evaluate('document.documentElement.scrollWidth');
        if (Number(width) > NARROW.width) wide.push(`${path} ${width}`);
      }
      expect(wide).toEqual([]);
    });

    it('are reached by keyboard: palette, sequences and help', async () => {
      const { page } = await visit('light');
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox').fill('usage');
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Usage', level: 1 }).waitFor();
      await page.keyboard.press('g');
      await page.keyboard.press('j');
      await page.getByRole('heading', { name: 'Jobs', level: 1 }).waitFor();
      await page.keyboard.press('/');
      expect(await page.evaluate('document.activeElement.labels[0].textContent')).toBe('Job id');
      await page.keyboard.press('Escape');
      await page.locator('h1').click();
      await page.keyboard.press('?');
      await page.getByRole('dialog', { name: 'Keyboard' }).waitFor();
    });
  });
}
