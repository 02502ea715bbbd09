import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import type { StackDescription } from '../../../stack/stackFile.ts';
import { findChromium, launchChromium, signIn } from '../../../testing/browser.ts';
import { createWorkplace } from '../../stack/startedStack.ts';

/** A test without it says that it was NOT CHECKED. */
export const chromiumPath = findChromium(process.env);

/** A page, with everything that its browser complained of. */
export interface OpenPage {
  readonly page: Page;
  /** Errors of scripts, and breaches of the content policy. */
  readonly complaints: string[];
}

/** The real stack, and a browser in front of it. */
export interface PageScene {
  readonly stack: StackDescription;
  readonly browser: Browser;
  open(path: string, options?: BrowserContextOptions): Promise<OpenPage>;
  /** The same, signed in with an account of the development wallet. */
  openAs(account: string, path: string, options?: BrowserContextOptions): Promise<OpenPage>;
  close(): Promise<void>;
}

/** Starts the stack as `npm start` does, in a folder of its own, and Chromium. */
export async function openPageScene(executablePath: string): Promise<PageScene> {
  const workplace = await createWorkplace();
  const started = workplace.start({ PORT: '0' });
  const stack = await started.running();
  const browser = await launchChromium(executablePath);

  async function open(path: string, options?: BrowserContextOptions): Promise<OpenPage> {
    const context = await browser.newContext(options);
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('console', (message) => {
      const text = message.text();
      // Answers of the API that refuse are part of what is tested.
      const isAnswer = text.startsWith('Failed to load resource');
      if (message.type() === 'error' && !isAnswer) complaints.push(text);
    });
    await page.goto(`${stack.baseUrl}${path}`);
    return { page, complaints };
  }

  return {
    stack,
    browser,
    open,
    async openAs(account, path, options) {
      const opened = await open('/console', options);
      await signIn(opened.page, account);
      await opened.page.goto(`${stack.baseUrl}${path}`);
      return opened;
    },
    async close() {
      await browser.close();
      started.process.kill('SIGTERM');
      await started.exitCode();
      await workplace.close();
    },
  };
}
