import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { beforeAll, beforeEach, expect, it } from '@jest/globals';
import type { BrowserContext, CDPSession, Locator, Page } from 'playwright-core';
import { APP_PAGES, APP_PATHS, type AppPage, SIGN_IN_HEAD } from '../../../console/routes.ts';
import { PAGE_WAIT_MS_MAX, ready } from '../../../testing/browser.ts';
import { until } from '../../../testing/until.ts';
import { complete } from '../../stack/startedStack.ts';
import { describeInBrowser, focused, type PageScene, settle } from './pageScene.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const DIALOGS = [
  ['/console/credits', 'Buy credits…'],
  ['/console/credits', 'Change the limits…'],
  ['/console/settings', 'Add a webhook'],
  ['/console/settings', 'Replace…'],
  ['/console', 'Search (⌘K)'],
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

/** What axe finds, by all its rules or by these, each with the elements at fault. */
const axe = (
  rules?: readonly string[],
) => `axe.run(document, ${JSON.stringify(rules ? { runOnly: rules } : {})})
  .then(({ violations }) => violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => id + ': ' + html.slice(0, 160) + ' ' + failureSummary)))`;

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

describeInBrowser('the pages', (openScene) => {
  let scene: PageScene;
  let page: Page;
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
    ({ page } = await scene.openAs('wallet', '/console', options));
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
    'pass axe, without overlap or overflow, in either theme and size: $view',
    async ({ path, button }) => {
      await page.emulateMedia({ colorScheme: 'light' });
      await show(ORDINARY);
      await goTo(path);
      if (button) {
        await page.getByRole('button', { name: button }).first().click();
        await page.getByRole('dialog').waitFor();
      }
      await settle(page);
      await page.evaluate(AXE);
      const faults = (await page.evaluate(axe())) as string[];
      await page.emulateMedia({ colorScheme: 'dark' });
      faults.push(...((await page.evaluate(axe(RULES_OF_COLOR))) as string[]));
      for (const [name, size] of SIZES) {
        await show(size);
        const found = (await page.evaluate(FAULTS_OF_LAYOUT)) as string[];
        faults.push(...found.map((fault) => `${name} ${fault}`));
      }
      expect(faults).toEqual([]);
    },
  );

  it('are reached by keyboard: palette, sequences and help', async () => {
    await show(ORDINARY);
    await goTo('/console');
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').fill('usage');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Usage', level: 1 }).waitFor();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    // Side by side: a sequence is forgotten after a second, which an answer between the keys may take.
    await Promise.all([page.keyboard.press('g'), page.keyboard.press('j')]);
    await page.getByRole('heading', { name: 'Jobs', level: 1 }).waitFor();
    await page.getByLabel('Job id').waitFor();
    await page.keyboard.press('/');
    await focused(page, 'Job id');
    await page.keyboard.press('Escape');
    await page.locator('h1').click();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard' }).waitFor();
  });
});

const WIDTHS = [1280, 390];
/** The others have a title that is not known before something is read. */
const PATHS = APP_PATHS.filter((path) => !path.includes(':'));
const headOf = (path: (typeof PATHS)[number]) => (APP_PAGES[path] as AppPage).head;

/** Two pages with one session. */
interface Reader {
  /** Without script. */
  readonly still: Page;
  readonly drawn: Page;
}

describeInBrowser('documents of the pages', (openScene) => {
  let scene: PageScene;
  let signedIn: Reader;
  let signedOut: Reader;

  beforeAll(async () => {
    scene = await openScene();
    signedOut = await openReader((await scene.open('/console')).page);
    signedIn = await openReader((await scene.openAs('wallet', '/console')).page);
  });

  async function openReader(drawn: Page): Promise<Reader> {
    const storageState = await drawn.context().storageState();
    const bare = await scene.browser.newContext({ javaScriptEnabled: false, storageState });
    bare.setDefaultTimeout(PAGE_WAIT_MS_MAX);
    return { drawn, still: await bare.newPage() };
  }

  /** At each width, the heading and the sentence below it, with where they stand in the pages' own font. */
  async function lookAt(page: Page): Promise<{ width: number; found: unknown }[]> {
    await until(() => page.evaluate(`document.fonts.check('1em "Geist Variable"')`));
    const looks = [];
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 800 });
      const found = await page.locator('main h1, main h1 + p').evaluateAll((elements) =>
        elements.map((element) => {
          const { x, y, width, height } = element.getBoundingClientRect();
          return { text: element.textContent, x, y, width, height };
        }),
      );
      looks.push({ width, found });
    }
    return looks;
  }

  /** The same as it stands without script, and as the app draws it. */
  async function lookTwice({ still, drawn }: Reader, path: string) {
    await still.goto(`${scene.stack.baseUrl}${path}`);
    const before = await lookAt(still);
    await drawn.goto(`${scene.stack.baseUrl}${path}`);
    await ready(drawn);
    return { before, after: await lookAt(drawn), title: await drawn.title() };
  }

  it.each(PATHS)('have title and lead of %s where the app draws them', async (path) => {
    const { title, lead } = headOf(path) ?? {};
    const looks = await lookTwice(signedIn, path);

    for (const { found } of looks.before) {
      expect(found).toMatchObject([{ text: title }, { text: lead }]);
    }
    expect(looks.after).toEqual(looks.before);
    expect(looks.title).toBe(`${title} · svc`);
  });

  it('ask for a sign-in at once where there is no session, and keep it there', async () => {
    const { before, after } = await lookTwice(signedOut, '/console/credits');

    for (const { found } of before) {
      expect(found).toMatchObject([{ text: SIGN_IN_HEAD.title }, { text: SIGN_IN_HEAD.lead }]);
    }
    expect(after).toEqual(before);
  });
});

const FAILED = 'This could not be loaded. You may be offline.';
const CODE = /\/console\/assets\/.*\.js$/;

describeInBrowser('a page whose code does not come', (openScene) => {
  let scene: PageScene;
  let context: BrowserContext;
  let page: Page;

  beforeAll(async () => {
    scene = await openScene();
    ({ page } = await scene.openAs('wallet', '/console'));
    context = page.context();
  });

  beforeEach(async () => {
    await page.goto(`${scene.stack.baseUrl}/console/credits`);
    // The code of the frame comes after the page's.
    await settle(page);
  });

  const button = (name: string) => page.getByRole('button', { name, exact: true });
  /** Fails once more, and then no more. */
  const recover = async (mend: () => Promise<void>, shown: Locator): Promise<void> => {
    await page.getByText(FAILED).waitFor();
    await button('Try again').click();
    await page.getByText(FAILED).waitFor();
    await mend();
    await button('Try again').click();
    await shown.waitFor();
    expect(await page.getByText(FAILED).count()).toBe(0);
  };

  it('leads on by another try once the browser is back', async () => {
    await context.setOffline(true);
    await page.getByRole('link', { name: 'Models' }).click();

    await recover(() => context.setOffline(false), page.getByRole('table'));
  });

  it('leads on by another try once the service answers again', async () => {
    await page.route(CODE, (route) => route.fulfill({ status: 502 }));
    await page.getByRole('link', { name: 'Workers' }).click();

    await recover(() => page.unroute(CODE), page.getByRole('table'));
  });

  it('opens a dialog by another try, and keeps the page around it', async () => {
    await context.setOffline(true);
    await button('Buy credits…').click();
    await page.getByText(FAILED).waitFor();
    await button('Close').click();
    await button('Withdraw…').click();

    await recover(() => context.setOffline(false), page.getByRole('dialog', { name: /Withdraw/ }));
  });

  it('opens the palette by another try', async () => {
    await context.setOffline(true);
    await page.keyboard.press('Control+k');

    await recover(() => context.setOffline(false), page.getByRole('combobox'));
  });

  it('says that the session cannot be read, and reads it by another try', async () => {
    await page.route('**/console/api/session', async (route) => {
      const isReaders = await page.evaluate('document.documentElement.dataset.clicked');
      await (isReaders ? route.continue() : route.fulfill({ status: 503 }));
    });
    await page.reload();
    await page.evaluate(
      "addEventListener('click', () => { document.documentElement.dataset.clicked = 'yes'; }, true)",
    );
    // It asks some more times by itself, in vain: only after the reader's click does it succeed.
    await page.getByText('The service answered with status 503.').waitFor();
    await button('Try again').click();

    await button('Buy credits…').waitFor();
  });
});
