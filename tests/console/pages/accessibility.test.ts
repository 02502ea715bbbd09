import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { afterEach, beforeAll, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { APP_PATHS } from '../../../console/routes.ts';
import { ready } from '../../../testing/browser.ts';
import { until } from '../../../testing/until.ts';
import { complete, describeInBrowser, focused, type PageScene } from './pageScene.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const THEMES = ['light', 'dark'] as const;
const DIALOGS = [
  ['/console/credits', 'Buy credits…'],
  ['/console/credits', 'Change the limits…'],
  ['/console/settings', 'Add a webhook'],
  ['/console/settings', 'Replace…'],
  ['/console', 'Search (⌘K)'],
] as const;

/** A zoom of 200 % leaves a window half its pixels. */
const SIZES: [string, { width: number; height: number; fontPx?: number }][] = [
  ['320 px', { width: 320, height: 720 }],
  ['200 % zoom', { width: 640, height: 400 }],
  ['text of 200 %', { width: 1280, height: 800, fontPx: 32 }],
];

/** Texts that are cut off, outside of the page or over another one; and what moves. */
const FAULTS_OF_LAYOUT = `(() => {
  const faults = [];
  const root = document.documentElement;
  if (root.scrollWidth > innerWidth) faults.push('scrolls sideways: ' + root.scrollWidth);
  const moving = [...document.querySelectorAll('*')].filter((element) => {
    const { transitionDuration, animationName } = getComputedStyle(element);
    return /[1-9]/.test(transitionDuration) || animationName !== 'none';
  });
  if (moving.length + document.getAnimations().length > 0) faults.push('moves: ' + moving.length);

  const dialog = document.querySelector('[role=dialog]');
  const texts = [];
  const walker = document.createTreeWalker(dialog ?? document.getElementById('root'), NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const owner = node.parentElement;
    if (node.data.trim() === '' || owner.closest('.offscreen, [data-base-ui-focus-guard]')) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const { left, right, top, bottom } of range.getClientRects()) {
      const rect = { left, right, top, bottom };
      const name = owner.tagName.toLowerCase() + ' "' + node.data.trim().slice(0, 40) + '"';
      let isFixed = false;
      if (bottom - top < 10) faults.push('is too small to read ' + name);
      for (let box = owner; box !== null && box !== document.body; box = box.parentElement) {
        const { overflowX, overflowY, position } = getComputedStyle(box);
        isFixed ||= position === 'fixed' || position === 'sticky';
        const bounds = box.getBoundingClientRect();
        const isScrolled = /auto|scroll/.test(overflowX) && box.scrollWidth > box.clientWidth + 1;
        if (isScrolled && !box.hasAttribute('tabindex')) faults.push('hides beside it ' + name);
        if (/auto|scroll/.test(overflowX + overflowY)) {
          // What scrolls is clipped at its bounds, and can be reached.
          rect.left = Math.max(rect.left, bounds.left);
          rect.right = Math.min(rect.right, bounds.right);
          rect.top = Math.max(rect.top, bounds.top);
          rect.bottom = Math.min(rect.bottom, bounds.bottom);
        } else if (/hidden|clip/.test(overflowX) && rect.right > bounds.right + 1) {
          faults.push('cuts off ' + name);
        }
      }
      if (rect.right - rect.left < 1 || rect.bottom - rect.top < 1) continue;
      if (rect.right > innerWidth + 1) faults.push('has outside ' + name);
      if (dialog || !isFixed) texts.push({ ...rect, name, owner });
    }
  }
  for (const control of (dialog ?? document).querySelectorAll('input, select, textarea')) {
    const { left, right, top, bottom, height } = control.getBoundingClientRect();
    const name = control.tagName.toLowerCase() + ' "' + control.labels[0]?.textContent + '"';
    const isWritten = !/checkbox|radio/.test(control.type);
    const fontPx = Number.parseFloat(getComputedStyle(control).fontSize);
    if (isWritten && control.clientHeight < 1.5 * fontPx) faults.push('cuts off ' + name);
    if (isWritten && /^date/.test(control.type) && control.scrollWidth > control.clientWidth) {
      faults.push('cuts off the date of ' + name);
    }
    if (height > 0) texts.push({ left, right, top, bottom, name, owner: control });
  }
  texts.forEach((one, index) => {
    for (const other of texts.slice(index + 1)) {
      const width = Math.min(one.right, other.right) - Math.max(one.left, other.left);
      const height = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
      if (width > 2 && height > 5) faults.push('has ' + one.name + ' over ' + other.name);
    }
  });
  return faults;
})()`;

/** What axe finds, each rule with the elements at fault. */
async function findFaults(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  return page.evaluate(`axe.run().then(({ violations }) => violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => id + ': ' + html.slice(0, 160) + ' ' + failureSummary)))`);
}

async function settle(page: Page): Promise<void> {
  await ready(page);
  await page.locator('h1').waitFor();
  // Some pages ask again and again, and are never idle.
  await page.waitForLoadState('networkidle', { timeout: 30_000 }).catch(() => undefined);
}

describeInBrowser('the pages', (openScene) => {
  let scene: PageScene;
  let worker: string;
  let job: string;

  beforeAll(async () => {
    scene = await openScene();
    const { data } = (await (await fetch(`${scene.stack.baseUrl}/console/api/workers`)).json()) as {
      data: { address: string }[];
    };
    worker = data[0]?.address ?? '';
    ({ job } = await complete(scene.stack));
  });

  /** What is open takes the machine's time from the next. */
  afterEach(() => Promise.all(scene.browser.contexts().map((context) => context.close())));

  const paths = () => [
    `/console/jobs/${job}`,
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
      await settle(page);
      faults.push(...(await findFaults(page)).map((fault) => `${path} ${fault}`));
    }
    expect(faults).toEqual([]);
  });

  it('have nothing that axe finds with a dialog open', async () => {
    const { page } = await visit('light');
    const faults: string[] = [];
    for (const [path, name] of DIALOGS) {
      await page.goto(`${scene.stack.baseUrl}${path}`);
      await page.getByRole('button', { name }).first().click();
      await page.getByRole('dialog').waitFor();
      faults.push(...(await findFaults(page)).map((fault) => `${name} ${fault}`));
    }
    expect(faults).toEqual([]);
  });

  it.each(SIZES)(
    'cut nothing off, overlap nothing and move nothing at %s',
    async (_, { fontPx = 16, ...viewport }) => {
      const { page } = await visit('light', { viewport, reducedMotion: 'reduce' });
      // The size that a browser's user has chosen for text.
      const fontSizes = { standard: fontPx, fixed: fontPx };
      await (await page.context().newCDPSession(page)).send('Page.setFontSizes', { fontSizes });
      const faults: string[] = [];
      const look = async (what: string) => {
        await settle(page);
        const found = (await page.evaluate(FAULTS_OF_LAYOUT)) as string[];
        faults.push(...found.map((fault) => `${what} ${fault}`));
      };
      for (const path of paths()) {
        await page.goto(`${scene.stack.baseUrl}${path}`);
        await look(path);
      }
      for (const [path, name] of DIALOGS) {
        await page.goto(`${scene.stack.baseUrl}${path}`);
        await page.getByRole('button', { name }).first().click();
        await page.getByRole('dialog').waitFor();
        await look(name);
      }
      expect(faults).toEqual([]);
    },
  );

  it('are reached by keyboard: palette, sequences and help', async () => {
    const { page } = await visit('light');
    await ready(page);
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').fill('usage');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Usage', level: 1 }).waitFor();
    const jobs = page.getByRole('heading', { name: 'Jobs', level: 1 });
    // A sequence is forgotten after a second, which a busy machine may need between two keys.
    await until(async () => {
      await page.keyboard.press('g');
      await page.keyboard.press('j');
      return jobs.waitFor({ timeout: 5_000 }).then(
        () => true,
        () => false,
      );
    });
    await page.keyboard.press('/');
    await focused(page, 'Job id');
    await page.keyboard.press('Escape');
    await page.locator('h1').click();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard' }).waitFor();
  });
});
