import type { Locator, Page } from 'playwright-core';
import type { SlowPage } from './pageCost.ts';

/** The longest of each interaction's events, from the press to the next paint; 16 ms at least. */
const OBSERVE_INTERACTIONS = `
  window.interactions = new Map();
  new PerformanceObserver((list) => {
    for (const { interactionId, duration } of list.getEntries()) {
      if (interactionId === 0) continue;
      interactions.set(interactionId, Math.max(duration, interactions.get(interactionId) ?? 0));
    }
  }).observe({ type: 'event', buffered: true, durationThreshold: 16 });
`;
/** Between two presses, as of a hand that is in a hurry. */
const PAUSE_MS = 150;
const SETTLE_MS = 1_500;
const JOB = 'job_0123456789abcdef';

/** What people do in the list of jobs. */
const SCENES: readonly (readonly [name: string, act: (page: Page) => Promise<void>])[] = [
  [
    'typing in a filter',
    async (page) => {
      const field = page.getByLabel('Job id');
      await field.click();
      await field.pressSequentially(JOB, { delay: PAUSE_MS });
      await field.press('ControlOrMeta+a');
      await field.press('Delete');
    },
  ],
  [
    '`j` and `k` in the list',
    async (page) => {
      await page.locator('[data-row="0"] a').focus();
      await repeat(15, () => page.keyboard.press('j'), page);
      await repeat(15, () => page.keyboard.press('k'), page);
    },
  ],
  [
    'a job opened and closed',
    (page) =>
      repeat(
        5,
        async () => {
          await pressOn(page.locator('[data-row="2"]'));
          await page.getByRole('dialog').waitFor();
          await page.keyboard.press('Escape');
          await page.getByRole('dialog').waitFor({ state: 'detached' });
        },
        page,
      ),
  ],
  [
    'the palette, and another theme',
    async (page) => {
      for (const theme of ['dark', 'light', 'dark', 'light', 'system']) {
        await page.keyboard.press('ControlOrMeta+k');
        await page.waitForTimeout(PAUSE_MS);
        await page.getByRole('dialog').getByRole('combobox').waitFor();
        await page.keyboard.type(theme, { delay: PAUSE_MS });
        await page.keyboard.press('Enter');
        await page.waitForTimeout(PAUSE_MS);
      }
    },
  ],
  [
    'a bar of the histogram',
    (page) =>
      repeat(
        5,
        async () => {
          await pressOn(page.getByRole('button', { name: /Show these alone$/ }).nth(3));
          await pressOn(page.getByRole('button', { name: 'Every time' }));
        },
        page,
      ),
  ],
];

/**
 * Presses with the bare mouse, once the page rests, and leaves the page alone until it rests again.
 * Finding elements by a script takes time of the page that a visitor does not spend.
 */
async function pressOn(target: Locator): Promise<void> {
  const page = target.page();
  const box = await target.boundingBox();
  if (box === null) throw new Error(`${target} is not to be seen`);
  await page.waitForTimeout(SETTLE_MS);
  await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
  await page.waitForTimeout(SETTLE_MS);
}

async function repeat(times: number, act: () => Promise<unknown>, page: Page): Promise<void> {
  for (let done = 0; done < times; done += 1) {
    await act();
    await page.waitForTimeout(PAUSE_MS);
  }
}

/** @returns milliseconds of each interaction, by what was done */
export async function interact(
  { page }: SlowPage,
  url: string,
): Promise<Map<string, readonly number[]>> {
  await page.addInitScript(OBSERVE_INTERACTIONS);
  await page.goto(url);
  await page.locator('[data-row="0"]').waitFor();
  await page.waitForTimeout(SETTLE_MS);
  const found = new Map<string, readonly number[]>();
  for (const [name, act] of SCENES) {
    await page.evaluate('interactions.clear()');
    await act(page);
    await page.waitForTimeout(SETTLE_MS);
    found.set(name, (await page.evaluate('[...interactions.values()]')) as number[]);
  }
  return found;
}

const FILTERS = ['failed', 'refunded', 'settled', 'pending', ''];

/** @returns milliseconds from the choice of a state to the first frame with its rows */
export async function filter({ page }: SlowPage): Promise<number[]> {
  const found: number[] = [];
  for (const state of FILTERS) {
    found.push(
      Number(
        await page.evaluate(`new Promise((resolve) => {
          const state = ${JSON.stringify(state)};
          const select = [...document.querySelectorAll('select')]
            .find((one) => one.labels[0].textContent === 'State');
          const isShown = () => {
            const row = document.querySelector('[data-row="0"]');
            if (state === 'pending') return row === null;
            return row !== null && (state === '' || row.textContent.startsWith(state));
          };
          const startMs = performance.now();
          select.value = state;
          select.dispatchEvent(new Event('change', { bubbles: true }));
          const look = () =>
            isShown() ? resolve(performance.now() - startMs) : requestAnimationFrame(look);
          requestAnimationFrame(look);
        })`),
      ),
    );
    await page.waitForTimeout(SETTLE_MS);
  }
  return found;
}

/** @returns bytes of script that opening a job and verifying it take, beyond the list's own */
export async function verificationBytes(
  { page, scriptBytes }: SlowPage,
  url: string,
): Promise<number> {
  await page.goto(url);
  await page.locator('[data-row="0"]').waitFor();
  await page.waitForTimeout(SETTLE_MS);
  const before = scriptBytes();
  await page.locator('[data-row="0"]').click();
  await page.getByRole('button', { name: 'Verify', exact: true }).click();
  await page.waitForTimeout(SETTLE_MS);
  return scriptBytes() - before;
}
