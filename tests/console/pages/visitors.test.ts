import { beforeAll, describe, expect, it } from '@jest/globals';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { until } from '../../../testing/until.ts';
import { complete } from '../../stack/startedStack.ts';
import { describeInBrowser, type OpenPage, type PageScene, settle } from './pageScene.ts';
import { type Abilities, addStandardWallet } from './standardWallet.ts';

const HOUR_MS = 3_600_000;
const CLOCKS = [
  ['Pacific/Kiritimati', 0],
  ['Pacific/Pago_Pago', 0],
  ['Europe/Berlin', -3],
  ['Europe/Berlin', 3],
  ['Asia/Kolkata', -24],
  ['America/New_York', 24],
] as const;

/** With the balance. */
const SIDE = 'header >> nth=0';

const textOf = async (page: Page, place = 'main') =>
  (await page.locator(place).textContent()) ?? '';

/** Runs in the page, before its own scripts: its clock is wrong. */
function shiftClock(shiftMs: number): void {
  const Real = Date;
  globalThis.Date = class extends Real {
    constructor(...parts: []) {
      super(...((parts.length === 0 ? [Real.now() + shiftMs] : parts) as []));
    }
    static override now = () => Real.now() + shiftMs;
  } as unknown as DateConstructor;
}

/** Runs in the page: puts elements of its own in the place of every text, as translators do. */
function translate(): void {
  // biome-ignore lint/suspicious/noExplicitAny: the page's own types are not those of Node
  const page = globalThis as any;
  const wrap = (node: {
    nodeType: number;
    data: string;
    parentElement: { localName: string; namespaceURI: string };
    childNodes: Iterable<never>;
  }): void => {
    if (node.nodeType !== 3) {
      for (const child of [...node.childNodes]) wrap(child);
      return;
    }
    const { localName = '', namespaceURI = '' } = node.parentElement ?? {};
    const isShown = node.data.trim() !== '' && namespaceURI.endsWith('xhtml');
    if (!isShown || /^(font|script|noscript|style|title|textarea|option)$/.test(localName)) return;
    const [outer, inner] = ['font', 'font'].map((name) => page.document.createElement(name));
    outer.append(inner);
    inner.append(page.document.createTextNode(node.data));
    (node as unknown as { replaceWith(other: object): void }).replaceWith(outer);
  };
  new page.MutationObserver((changes: { addedNodes: never[]; target: never; type: string }[]) => {
    for (const { addedNodes, target, type } of changes) {
      if (type === 'characterData') wrap(target);
      for (const node of addedNodes) if ((node as { isConnected: boolean }).isConnected) wrap(node);
    }
  }).observe(page.document, { childList: true, subtree: true, characterData: true });
}

describeInBrowser('what visitors bring', (openScene) => {
  let scene: PageScene;
  /** Of the wallet that owns the API key. */
  let storageState: NonNullable<BrowserContextOptions['storageState']>;
  let job: string;

  beforeAll(async () => {
    scene = await openScene();
    ({ job } = await complete(scene.stack));
    const { page } = await scene.openAs('wallet', '/console/jobs');
    await page.getByRole('cell').getByText('settled').first().waitFor();
    storageState = await page.context().storageState();
  });

  describe('a clock that is wrong', () => {
    it.each(CLOCKS)('in %s, by %d h, changes no range and no age', async (timezoneId, hours) => {
      const context = await scene.browser.newContext({ timezoneId, storageState });
      await context.addInitScript(shiftClock, hours * HOUR_MS);
      const { page, complaints } = await scene.openIn(context, '/console/usage?span=24h');
      await settle(page);
      expect(await textOf(page)).toMatch(/Jobs[1-9]/);

      const see = async (path: string) => {
        await page.goto(`${scene.stack.baseUrl}${path}`);
        await settle(page);
        return textOf(page);
      };
      expect(await see('/console/settings')).toMatch(/this one *(now|\d+[sm] ago)/);
      expect(await see('/console/jobs')).toMatch(/(now|\d+[sm] ago)/);
      expect(await see('/console/status')).toMatch(/Read (now|\d+s ago)/);
      await page.locator('[role=img] [title$="probes answered"]').waitFor({ state: 'attached' });
      expect(complaints).toEqual([]);
      await context.close();
    });

    it('leaves a dispute the time that the ledger gives', async () => {
      const { job: disputable } = await complete(scene.stack);
      const context = await scene.browser.newContext({ storageState });
      await context.addInitScript(shiftClock, 3 * HOUR_MS);
      const { page } = await scene.openIn(context, `/console/jobs/${disputable}`);
      await page.getByRole('timer').waitFor();
      expect(await page.getByRole('timer').textContent()).toMatch(/^(0:\d\d|1:00) left/);
      await context.close();
    });
  });

  describe('a translator of pages', () => {
    let plain: OpenPage;
    let translated: OpenPage;

    const openBoth = async (path: string) => {
      plain = await scene.open(path, { storageState });
      const context = await scene.browser.newContext({ storageState });
      await context.addInitScript(translate);
      translated = await scene.openIn(context, path);
      await Promise.all([settle(plain.page), settle(translated.page)]);
    };
    const closeBoth = async () => {
      expect(translated.complaints).toEqual([]);
      await plain.page.context().close();
      await translated.page.context().close();
    };
    const shown = async ({ page }: OpenPage, place: string) =>
      (await textOf(page, place)).replaceAll(/now|\d+[smhd] ago/g, 'ago');
    const showTheSame = (place: string) =>
      until(async () => (await shown(plain, place)) === (await shown(translated, place)));

    it.each(['/console/credits', '/console/jobs', '/console'])(
      'keeps no old number beside a new one on %s',
      async (path) => {
        await openBoth(path);
        expect(await translated.page.locator('main font').count()).toBeGreaterThan(0);
        const before = await shown(plain, SIDE);
        for (let made = 0; made < 2; made += 1) await complete(scene.stack);
        await until(async () => (await shown(plain, SIDE)) !== before);
        await settle(plain.page);
        await showTheSame(SIDE);
        await showTheSame('main');
        await closeBoth();
      },
    );

    it('leaves a count of seconds running', async () => {
      const { job: disputable } = await complete(scene.stack);
      await openBoth(`/console/jobs/${disputable}`);
      const timer = translated.page.getByRole('timer');
      const first = await timer.textContent();
      await until(async () => (await timer.textContent()) !== first);
      expect(await timer.textContent()).toMatch(/^0:\d\d left, by the ledger's time$/);
      await closeBoth();
    });

    const DIFFERS = 'Your text is not the proven one.';
    it('shows another verdict in place of the first on Verify', async () => {
      const context = await scene.browser.newContext();
      await context.addInitScript(translate);
      const { page, complaints } = await scene.openIn(context, `/verify/${job}`);
      for (const [text, verdict] of [
        ['another text', `The job holds. ${DIFFERS}`],
        [undefined, 'The job holds'],
      ] as const) {
        await page.getByLabel('Compare the text that I received').setChecked(text !== undefined);
        if (text) await page.getByLabel('Text', { exact: true }).fill(text);
        await page.getByRole('button', { name: 'Verify' }).click();
        await page.getByText(verdict, { exact: true }).waitFor();
      }
      expect(await page.getByText(DIFFERS).count()).toBe(0);
      expect(complaints).toEqual([]);
      await context.close();
    });
  });

  describe('a wallet', () => {
    const TRANSACTIONS = 'solana:signTransaction';

    const openWith = async (path: string, abilities: Abilities) => {
      const context = await scene.browser.newContext();
      const wallet = await addStandardWallet(context, scene, 'wallet', abilities);
      const { page, complaints } = await scene.openIn(context, path);
      const choice = page.getByRole('main').getByRole('button', { name: new RegExp(wallet.name) });
      return { page, complaints, wallet, choice, context };
    };

    it.each(['solana:signOffchainMessage', 'solana:signMessage', 'solana:signIn'])(
      'signs in when it signs texts by %s alone',
      async (feature) => {
        const { page, choice, wallet, complaints, context } = await openWith('/console/credits', {
          features: [feature, TRANSACTIONS],
        });
        await choice.click();
        await page.getByRole('heading', { name: 'Credits', exact: true }).waitFor();
        expect([wallet.asked.length, complaints]).toEqual([1, []]);
        await context.close();
      },
    );

    it('is listed with the reason, and not offered, when it signs no texts', async () => {
      const { page, choice, context } = await openWith('/console/credits', {
        features: [TRANSACTIONS],
      });
      await page.getByText('Standard wallet signs no texts, and a sign-in is one.').waitFor();
      expect(await choice.isDisabled()).toBe(true);
      await context.close();
    });

    it('is refused before a signature when its account is only shown', async () => {
      const { page, choice, wallet, context } = await openWith('/console/credits', {
        features: ['solana:signIn', TRANSACTIONS],
        accountFeatures: [],
      });
      await choice.click();
      await page.getByText('Standard wallet signs no texts with this account').waitFor();
      expect(wallet.asked).toEqual([]);
      await context.close();
    });

    const features = ['solana:signIn', TRANSACTIONS];
    const CANNOT: readonly [why: string, abilities: Abilities, words: string][] = [
      ['no transactions', { features: ['solana:signIn'] }, 'signs no transactions.'],
      [
        'none with its account',
        { features, accountFeatures: ['solana:signMessage'] },
        'signs no transactions with this account.',
      ],
      [
        'none for this ledger',
        { features, chains: ['solana:mainnet'] },
        'signs nothing for this ledger, solana:localnet.',
      ],
      [
        'none of the legacy version',
        { features, transactionVersions: [0] },
        'signs no transactions of the legacy version.',
      ],
    ];

    it.each(CANNOT)(
      'is named before the first field when it signs %s',
      async (_, abilities, words) => {
        const { page, choice, wallet, context } = await openWith('/console/credits', abilities);
        await choice.click();
        await page.locator('main').getByText(`Standard wallet ${words}`).waitFor();
        await page.getByRole('button', { name: 'Buy credits…' }).click();
        await page.getByRole('dialog').getByText(`Standard wallet ${words}`).waitFor();
        await page.getByRole('button', { name: 'See what it does' }).click();
        await page.getByText(/^You then have/).waitFor();
        expect(await page.getByRole('button', { name: 'Sign and send' }).isDisabled()).toBe(true);
        expect(wallet.asked.map(({ kind }) => kind)).toEqual(['message']);
        await context.close();
      },
    );

    it('is sent to buy an account first when it has none on the ledger', async () => {
      const { page, complaints } = await scene.openAs('stranger', '/console/playground');
      await page.getByText('Your wallet has no credit account yet.').waitFor();
      await page.getByRole('link', { name: 'Buy the first credits' }).click();
      await page.getByRole('button', { name: 'Buy the first credits' }).waitFor();
      expect(complaints).toEqual([]);
    });
  });
});
