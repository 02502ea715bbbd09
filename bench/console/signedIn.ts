import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';

/** Chromium without what it does of its own accord. As root it has no sandbox. */
export function launchChromium(environment: NodeJS.ProcessEnv): Promise<Browser> {
  return chromium.launch({
    executablePath: environment.CHROMIUM_PATH ?? '/usr/bin/chromium',
    chromiumSandbox: false,
    args: [
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--no-first-run',
    ],
  });
}

/** Signs in with an account of the development wallet; every page of the context then is. */
export async function signIn(
  context: BrowserContext,
  baseUrl: string,
  account: string,
): Promise<Page> {
  const page = await context.newPage();
  await page.goto(`${baseUrl}/console`);
  const menu = page.getByRole('button', { name: 'Open the menu' });
  await page.getByRole('link', { name: 'svc', exact: true }).waitFor();
  if (await menu.isVisible()) await menu.click();
  await page.getByRole('button', { name: 'Sign in' }).first().click();
  await page.getByRole('button', { name: /Development wallet/ }).click();
  await page.getByRole('button', { name: account, exact: true }).click();
  await page.getByRole('button', { name: 'Sign', exact: true }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  return page;
}
