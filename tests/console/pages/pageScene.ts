import OpenAI from 'openai';
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

/** Has the ledger simulate what a dialog asks for, and the development wallet sign it. */
export async function signAndSend(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Sign and send' }).click();
  await page.getByRole('button', { name: 'Sign', exact: true }).click();
}

/** What a client of the official library keeps of a settled job. */
export interface Received {
  readonly job: string;
  readonly text: string;
  readonly receipt: string;
}

/** Completes one job with the stack's own API key. */
export async function complete(
  { baseUrl, apiKey, model }: StackDescription,
  { as = apiKey, from = model }: { readonly as?: string; readonly from?: string } = {},
): Promise<Received> {
  const client = new OpenAI({ baseURL: `${baseUrl}/v1`, apiKey: as });
  const { data, response } = await client.chat.completions
    .create({
      model: from,
      max_tokens: 24,
      messages: [{ role: 'user', content: 'Say hello.' }],
    })
    .withResponse();
  return {
    job: response.headers.get('x-svc-job-id') ?? '',
    text: data.choices[0]?.message.content ?? '',
    receipt: response.headers.get('x-svc-delivery-receipt') ?? '',
  };
}
