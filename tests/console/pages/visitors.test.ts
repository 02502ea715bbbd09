import { beforeAll, describe, expect, it } from '@jest/globals';
import { complete } from '../../stack/startedStack.ts';
import { describeInBrowser, type PageScene, settle } from './pageScene.ts';
import { addStandardWallet } from './standardWallet.ts';

const HOUR_MS = 3_600_000;
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

describeInBrowser('what visitors bring', (openScene) => {
  let scene: PageScene;

  beforeAll(async () => {
    scene = await openScene();
    await complete(scene.stack);
  });

  it.each([
    ['Pacific/Pago_Pago', 3],
    ['Asia/Kolkata', -24],
  ])('is a clock in %s, wrong by %d h, which changes no time', async (timezoneId, hours) => {
    const { job } = await complete(scene.stack);
    const { page: own } = await scene.openAs('wallet', '/console/jobs');
    const storageState = await own.context().storageState();
    const context = await scene.browser.newContext({ timezoneId, storageState });
    await context.addInitScript(shiftClock, hours * HOUR_MS);
    const { page, complaints } = await scene.openIn(context, `/console/jobs/${job}`);
    await page.getByRole('timer').waitFor();
    expect(await page.getByRole('timer').textContent()).toMatch(/^(0:\d\d|1:00) left/);
    for (const [path, shown] of [
      ['usage?span=24h', /Jobs[1-9]/],
      ['settings', /this one *(now|\d+[sm] ago)/],
      ['status', /Read (now|\d+s ago)/],
    ] as const) {
      await page.goto(`${scene.stack.baseUrl}/console/${path}`);
      await settle(page);
      expect(await page.locator('main').textContent()).toMatch(shown);
    }
    expect(complaints).toEqual([]);
    await context.close();
  });

  describe('a wallet', () => {
    const openWith = async (...features: string[]) => {
      const context = await scene.browser.newContext();
      const wallet = await addStandardWallet(context, scene, 'wallet', features);
      const { page, complaints } = await scene.openIn(context, '/console/credits');
      const choice = page.getByRole('main').getByRole('button', { name: new RegExp(wallet.name) });
      return { page, complaints, wallet, choice, context };
    };

    it('signs in when it signs texts in an envelope alone', async () => {
      const { page, choice, wallet, complaints, context } = await openWith(
        ...['solana:signOffchainMessage', 'solana:signTransaction'],
      );
      await choice.click();
      await page.getByRole('heading', { name: 'Credits', exact: true }).waitFor();
      expect([wallet.asked.length, complaints]).toEqual([1, []]);
      await context.close();
    });

    it('is named before the first field when it signs no transactions', async () => {
      const { page, choice, wallet, context } = await openWith('solana:signIn');
      const words = 'Standard wallet signs no transactions.';
      await choice.click();
      await page.locator('main').getByText(words).waitFor();
      await page.getByRole('button', { name: 'Buy credits…' }).click();
      await page.getByRole('dialog').getByText(words).waitFor();
      await page.getByRole('button', { name: 'See what it does' }).click();
      await page.getByText(/^You then have/).waitFor();
      expect(await page.getByRole('button', { name: 'Sign and send' }).isDisabled()).toBe(true);
      expect(wallet.asked.map(({ kind }) => kind)).toEqual(['message']);
      await context.close();
    });

    const MAY_CHANGE = ['Pause…', 'Add a model…', 'Change…', 'Retire…'];
    it.each([
      ['stranger', []],
      ['gateway operator', ['Stop it…']],
      ['operator', [...MAY_CHANGE, 'Stop it…']],
    ])('that is the %s has on Operator the buttons that it may use', async (name, may) => {
      const { page } = await scene.openAs(name, '/console/operator');
      await page.getByRole('heading', { name: 'Gateway' }).waitFor();
      await settle(page);

      const buttons = await page.locator('main').getByRole('button').allTextContents();
      const shown = [...MAY_CHANGE, 'Stop it…'].filter((button) => buttons.includes(button));
      expect(shown).toEqual(may);
    });

    it('keeps the card of a model pinned whose price it changes as the operator', async () => {
      const { page } = await scene.openAs('operator', '/console/operator');
      const row = page.getByRole('row').filter({ hasText: scene.stack.model });
      await row.getByRole('button', { name: 'Change…' }).click();
      const hash = await page.getByLabel('Hash of its card').inputValue();
      expect(hash).toMatch(/^sha256:[0-9a-f]{64}$/);
      await page.getByLabel('Credits per request').fill('3');
      await page.getByRole('button', { name: 'See what it does' }).click();
      await page.getByText(`Its card is pinned as ${hash}.`).waitFor();
    });
  });
});
