import { afterAll } from '@jest/globals';
import pg from 'pg';
import type {
  Browser,
  BrowserContext,
  BrowserContextOptions,
  Locator,
  Page,
  Request,
} from 'playwright-core';
import type { StackDescription } from '../../../stack/stackFile.ts';
import { launchChromium, PAGE_WAIT_MS_MAX, ready, signIn } from '../../../testing/browser.ts';
import { needs } from '../../../testing/machine/needs.ts';
import { chromiumPath } from '../../../testing/machine/tools.ts';
import { until } from '../../../testing/until.ts';
import { createWorkplace } from '../../stack/startedStack.ts';

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
  /** A page of a context that the test has made. */
  openIn(context: BrowserContext, path: string): Promise<OpenPage>;
  /** The same, signed in with an account of the development wallet: all of them in one session. */
  openAs(account: string, path: string, options?: BrowserContextOptions): Promise<OpenPage>;
  close(): Promise<void>;
}

type OpenScene = (environment?: Record<string, string>) => Promise<PageScene>;

/** The scene of the test file that runs, for all that it describes. */
let opening: Promise<PageScene> | undefined;

/**
 * Describes what a browser shows.
 *
 * @param tests gets how to open the file's scene: the first who does gives the stack its settings
 */
export function describeInBrowser(title: string, tests: (openScene: OpenScene) => void): void {
  needs('chromium').describe(title, () => {
    tests((environment) => {
      opening ??= openPageScene(environment);
      return opening;
    });
    // What is open takes the machine's time from the next.
    afterAll(async () => {
      const scene = await opening?.catch(() => undefined);
      await Promise.all(scene?.browser.contexts().map((context) => context.close()) ?? []);
    });
  });
  // Behind the last description of the file.
  afterAll(async () => {
    const scene = await opening?.catch(() => undefined);
    opening = undefined;
    await scene?.close();
  });
}

/** Starts the stack as `npm start` does, in a folder of its own, and Chromium. */
async function openPageScene(environment: Record<string, string> = {}): Promise<PageScene> {
  const workplace = await createWorkplace();
  const started = workplace.start({ PORT: '0', ...environment });
  const starting = Promise.all([started.running(), launchChromium(chromiumPath())]);
  const [stack, browser] = await starting.catch(async (error: unknown) => {
    await workplace.close();
    throw error;
  });
  /** Of the accounts that have signed in. */
  const sessions = new Map<string, Awaited<ReturnType<BrowserContext['storageState']>>>();

  async function open(path: string, options?: BrowserContextOptions): Promise<OpenPage> {
    return openIn(await browser.newContext(options), path);
  }

  async function openIn(context: BrowserContext, path: string): Promise<OpenPage> {
    const page = await context.newPage();
    page.setDefaultTimeout(PAGE_WAIT_MS_MAX);
    noteRequests(page);
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
    openIn,
    async openAs(account, path, options) {
      const storageState = sessions.get(account);
      if (storageState) return open(path, { ...options, storageState });
      const opened = await open('/console', options);
      await signIn(opened.page, account);
      sessions.set(account, await opened.page.context().storageState());
      await opened.page.goto(`${stack.baseUrl}${path}`);
      return opened;
    },
    async close() {
      await Promise.all([browser.close(), started.stop()]);
      await workplace.close();
    },
  };
}

/** Opens the service's database, or ends all connections to it and has it take no others. */
export async function setDatabase({ stack }: PageScene, isOpen: boolean): Promise<void> {
  const url = new URL(stack.databaseUrl);
  const name = url.pathname.slice(1);
  url.pathname = '/template1';
  const server = new pg.Client(url.href);
  await server.connect();
  const database = pg.escapeIdentifier(name);
  await server.query(`alter database ${database} allow_connections ${isOpen}`);
  if (!isOpen) {
    const end = 'select pg_terminate_backend(pid) from pg_stat_activity where datname = $1';
    await server.query(end, [name]);
  }
  await server.end();
}

/** What each page has asked for and not got yet. */
const pending = new WeakMap<Page, Set<Request>>();

function noteRequests(page: Page): void {
  const asked = new Set<Request>();
  pending.set(page, asked);
  page.on('request', (request) => void asked.add(request));
  const end = (request: Request): void => void asked.delete(request);
  page.on('requestfinished', end);
  page.on('requestfailed', end);
}

/** Waits until a page shows all that it reads: nothing of it is asked for, and its place is filled. */
export async function settle(page: Page): Promise<void> {
  await ready(page);
  await page.locator('h1').waitFor();
  const reading = page.getByText(/^Reading .+…$/);
  const isSettled = async () => pending.get(page)?.size === 0 && (await reading.count()) === 0;
  do {
    await until(isSettled);
    // What has come is drawn, and may ask for more.
    await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn)))');
  } while (!(await isSettled()));
}

/** The time of a page with a clock of its own goes on until something is so. */
export const brought = (page: Page, isSo: () => Promise<boolean>): Promise<unknown> =>
  until(async () => {
    await page.clock.runFor(1_000);
    return isSo();
  });

const TABS_MAX = 80;

/** Waits until the keyboard is in a field: a dialog moves it there only after its first frame. */
export async function focused(page: Page, label: string): Promise<void> {
  // Asked from outside: the policy of the pages takes no text that becomes code.
  const labelOfFocus = 'document.activeElement?.labels?.[0]?.textContent';
  await until(async () => (await page.evaluate(labelOfFocus)) === label);
}

/** Reaches a control as a keyboard does, by Tab alone. */
async function tabTo(page: Page, control: Locator): Promise<void> {
  await control.waitFor().catch(async (error: Error) => {
    // What is open says what was late, which the time-out alone does not.
    const open = await page.getByRole('dialog').allInnerTexts();
    throw new Error(`${error.message}\nOpen: ${open.join('\n') || 'no dialog'}`, { cause: error });
  });
  for (let presses = 0; presses < TABS_MAX; presses += 1) {
    if (await control.evaluate((element) => element === element.ownerDocument.activeElement))
      return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`No Tab reaches ${control}`);
}

/** Presses a button by keyboard, once it takes a press. */
export async function press(page: Page, name: string): Promise<void> {
  await tabTo(page, page.getByRole('button', { name, exact: true, disabled: false }));
  await page.keyboard.press('Enter');
}

/** Writes into a field by keyboard, in place of what it holds. */
export async function write(page: Page, label: string, text: string): Promise<void> {
  await tabTo(page, page.getByLabel(label, { exact: true }));
  await page.keyboard.press('Control+a');
  await page.keyboard.insertText(text);
}

/** Has the development wallet sign what a dialog asks for, by keyboard. */
export async function signAndSend(page: Page): Promise<void> {
  await press(page, 'Sign and send');
  await press(page, 'Sign');
}
