import { beforeAll, expect, it } from '@jest/globals';
import type { CDPSession, Page } from 'playwright-core';
import { APP_PAGES, APP_PATHS, SIGN_IN_HEAD } from '../../../console/routes.ts';
import { ready } from '../../../testing/browser.ts';
import { until } from '../../../testing/until.ts';
import { complete } from '../../stack/startedStack.ts';
import { faultsByAxe } from './axe.ts';
import { describeInBrowser, type PageScene, settle } from './pageScene.ts';

const DIALOGS = [
  ['/console/credits', 'Buy credits…'],
  ['/console/credits', 'Change the limits…'],
  ['/console/settings', 'Add a webhook'],
  ['/console/settings', 'Replace…'],
] as const;

/** All pages but that of a webhook, and what opens over them. */
const VIEWS: { readonly view: string; readonly path: string; readonly button?: string }[] = [
  ...APP_PATHS.filter((path) => !path.includes(':webhook')).map((path) => ({ view: path, path })),
  { view: '/verify', path: '/verify' },
  ...DIALOGS.map(([path, button]) => ({ view: `${path} behind "${button}"`, path, button })),
];

interface Size {
  readonly width: number;
  readonly height: number;
  readonly fontPx: number;
}

const ORDINARY: Size = { width: 1280, height: 720, fontPx: 16 };
/** A zoom of 200 % leaves a window half its pixels. */
const SIZES: [string, Size][] = [
  ['at 320 px', { width: 320, height: 720, fontPx: 16 }],
  ['at a zoom of 200 %', { width: 640, height: 400, fontPx: 16 }],
  ['with text of 200 %', { width: 1280, height: 800, fontPx: 32 }],
];

/** The size of its text, once a page has been drawn in a new size. */
const DRAWN = `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() =>
  done(getComputedStyle(document.documentElement).fontSize))))`;

/** What axe looks for that depends on the theme: everything else is the same in both. */
const RULES_OF_COLOR = ['color-contrast', 'link-in-text-block'];

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

  // For assistive technology alone: titles of a table on a phone, too.
  const isOffscreen = (element) =>
    element !== null &&
    (getComputedStyle(element).clipPath === 'inset(50%)' || isOffscreen(element.parentElement));
  const dialog = document.querySelector('[role=dialog]');
  const texts = [];
  const walker = document.createTreeWalker(dialog ?? document.getElementById('root'), NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const owner = node.parentElement;
    if (node.data.trim() === '' || owner.closest('[data-base-ui-focus-guard]')) continue;
    if (isOffscreen(owner)) continue;
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
    const isWritten = !/checkbox|radio|file/.test(control.type);
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

describeInBrowser('the pages', (openScene) => {
  let scene: PageScene;
  let page: Page;
  let complaints: string[];
  let device: CDPSession;
  /** What stands in an address for what is not known before there is a stack. */
  const known: Record<string, string> = {};

  beforeAll(async () => {
    scene = await openScene();
    const { data } = (await (await fetch(`${scene.stack.baseUrl}/console/api/workers`)).json()) as {
      data: { address: string }[];
    };
    known[':worker'] = data[0]?.address ?? '';
    known[':model'] = scene.stack.model;
    known[':job'] = (await complete(scene.stack)).job;
    // The policy of the pages refuses the script of a test.
    const options = { bypassCSP: true, reducedMotion: 'reduce' } as const;
    ({ page, complaints } = await scene.openAs('wallet', '/console', options));
    device = await page.context().newCDPSession(page);
  });

  const goTo = async (path: string) => {
    const address = path.replace(/:\w+/, (name) => known[name] ?? name);
    await page.goto(`${scene.stack.baseUrl}${address}`);
    await ready(page);
    await page.locator('h1').waitFor();
  };
  const show = async ({ fontPx, ...viewport }: Size) => {
    await page.setViewportSize(viewport);
    // The size that a browser's user has chosen for text.
    const fontSizes = { standard: fontPx, fixed: fontPx };
    await device.send('Page.setFontSizes', { fontSizes });
    expect(await page.evaluate(DRAWN)).toBe(`${fontPx}px`);
  };

  it.each(VIEWS)(
    'pass axe, and have no overlap, overflow or pale color in any size: $view',
    async ({ path, button }) => {
      await page.emulateMedia({ colorScheme: 'light' });
      await show(ORDINARY);
      await goTo(path);
      if (button) {
        await page.getByRole('button', { name: button }).first().click();
        await page.getByRole('dialog').waitFor();
      }
      await settle(page);
      const faults = await faultsByAxe(page);
      await page.emulateMedia({ colorScheme: 'dark' });
      faults.push(...(await faultsByAxe(page, RULES_OF_COLOR)));
      for (const [name, size] of SIZES) {
        await show(size);
        const found = (await page.evaluate(FAULTS_OF_LAYOUT)) as string[];
        faults.push(...found.map((fault) => `${name} ${fault}`));
      }
      expect([faults, complaints]).toEqual([[], []]);
    },
  );
});

describeInBrowser('the document of a page', (openScene) => {
  const PATH = '/console/credits';

  /** The heading and the sentence below it, with where they stand in the pages' own font. */
  async function lookAt(page: Page): Promise<unknown[]> {
    await until(() => page.evaluate(`document.fonts.check('1em "Geist Variable"')`));
    const looks = [];
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 800 });
      const heads = page.locator('main h1, main h1 + p');
      looks.push(
        await heads.evaluateAll((elements) =>
          elements.map((element) => {
            const { x, y, width, height } = element.getBoundingClientRect();
            return { text: element.textContent, x, y, width, height };
          }),
        ),
      );
    }
    return looks;
  }

  it.each([
    ['has title and lead where the app draws them', 'wallet', APP_PAGES[PATH].head],
    ['asks for a sign-in at once where there is no session', undefined, SIGN_IN_HEAD],
  ] as const)('%s', async (_, account, { title, lead }) => {
    const scene = await openScene();
    const { page: drawn } = await (account ? scene.openAs(account, PATH) : scene.open(PATH));
    await ready(drawn);
    const storageState = await drawn.context().storageState();
    const withoutScript = await scene.browser.newContext({
      javaScriptEnabled: false,
      storageState,
    });
    const { page: still } = await scene.openIn(withoutScript, PATH);

    const looks = await lookAt(still);

    for (const found of looks) expect(found).toMatchObject([{ text: title }, { text: lead }]);
    expect(await lookAt(drawn)).toEqual(looks);
  });
});
