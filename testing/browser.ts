import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';

/** For what hangs: its error names what is missing, which the test's own time-out later does not. */
export const PAGE_WAIT_MS_MAX = 100_000;

/** Undefined where the machine has no Chromium. */
export function findChromium(environment: NodeJS.ProcessEnv): string | undefined {
  const named = environment.CHROMIUM_PATH;
  if (named) return named;
  return (environment.PATH ?? '')
    .split(delimiter)
    .flatMap((folder) => ['chromium', 'chromium-browser'].map((name) => join(folder, name)))
    .find((path) => existsSync(path));
}

/**
 * Chromium without what it does of its own accord. As root it has no sandbox.
 *
 * @throws Error where the machine has none
 */
export async function launchChromium(executablePath = findChromium(process.env)): Promise<Browser> {
  if (executablePath === undefined) throw new Error('This machine has no Chromium.');
  return chromium.launch({
    executablePath,
    chromiumSandbox: false,
    args: [
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--no-first-run',
    ],
  });
}

/** Waits until the app has drawn a page: its document looks the same, and takes no key. */
export async function ready(page: Page): Promise<void> {
  await page.locator('main:not([aria-busy])').waitFor();
}

/** Signs in on a page of the web app with an account of the development wallet, as a user does. */
export async function signIn(page: Page, account: string): Promise<void> {
  await openMenu(page);
  await page.getByRole('button', { name: 'Sign in' }).first().click();
  await page.getByRole('button', { name: /Development wallet/ }).click();
  await page.getByRole('button', { name: account, exact: true }).click();
  await page.getByRole('button', { name: 'Sign', exact: true }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
}

/** A new page of the web app at this address, signed in with an account of the development wallet. */
export async function openSignedIn(
  context: BrowserContext,
  baseUrl: string,
  account: string,
): Promise<Page> {
  const page = await context.newPage();
  page.setDefaultTimeout(PAGE_WAIT_MS_MAX);
  await page.goto(`${baseUrl}/console`);
  await signIn(page, account);
  return page;
}

/** Where there is no room for the navigation, it lies behind a button. */
async function openMenu(page: Page): Promise<void> {
  const menu = page.getByRole('button', { name: 'Open the menu' });
  await ready(page);
  if (await menu.isVisible()) await menu.click();
}
