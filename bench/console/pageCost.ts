import type { BrowserContext, CDPSession, Page } from 'playwright-core';
import { ready } from '../../testing/browser.ts';

/** How much slower the processor is made. */
const SLOWDOWN = 4;
/** By then the last of a page is painted. Until then nothing asks the page: an answer takes its time. */
const SETTLE_MS = 4_000;

/**
 * Recorded by the page itself: the largest paint, the sum of all shifts without an input, and when the
 * last element came. The largest paint is of the document's own text, so it may be long before the last.
 */
export const OBSERVE = `
  window.measured = { lcp: 0, shift: 0, drawn: 0 };
  new MutationObserver((records) => {
    const isElement = (node) => node.nodeType === Node.ELEMENT_NODE;
    if (records.some(({ addedNodes }) => [...addedNodes].some(isElement)))
      measured.drawn = performance.now();
  }).observe(document, { childList: true, subtree: true });
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) measured.lcp = entry.startTime;
  }).observe({ type: 'largest-contentful-paint', buffered: true });
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (!entry.hadRecentInput) measured.shift += entry.value;
  }).observe({ type: 'layout-shift', buffered: true });
`;

export interface PageCost {
  /** As served, over all files. */
  readonly scriptBytes: number;
  /** What was asked of the API, each once. */
  readonly calls: ReadonlySet<string>;
  readonly lcpMs: number;
  readonly drawnMs: number;
  readonly shift: number;
}

/** A page whose processor is slow and whose cache is empty, with what it has loaded so far. */
export interface SlowPage {
  readonly page: Page;
  scriptBytes(): number;
  readonly calls: ReadonlySet<string>;
}

export async function openSlowly(context: BrowserContext): Promise<SlowPage> {
  const page = await context.newPage();
  const devtools = await context.newCDPSession(page);
  await devtools.send('Network.enable');
  await devtools.send('Network.setCacheDisabled', { cacheDisabled: true });
  await devtools.send('Emulation.setCPUThrottlingRate', { rate: SLOWDOWN });
  const calls = new Set<string>();
  return { page, scriptBytes: countScripts(devtools, calls), calls };
}

function countScripts(devtools: CDPSession, calls: Set<string>): () => number {
  const scripts = new Set<string>();
  let bytes = 0;
  devtools.on('Network.responseReceived', ({ requestId, response }) => {
    const { pathname, search } = new URL(response.url);
    if (pathname.endsWith('.js')) scripts.add(requestId);
    if (pathname.startsWith('/console/api/')) calls.add(`${pathname}${search}`);
  });
  devtools.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    if (scripts.has(requestId)) bytes += encodedDataLength;
  });
  return () => bytes;
}

/** Loads a page once, as somebody who has never been there. */
export async function loadOnce(context: BrowserContext, url: string): Promise<PageCost> {
  const { page, scriptBytes, calls } = await openSlowly(context);
  await page.goto(url);
  await page.waitForTimeout(SETTLE_MS);
  const { lcp, drawn, shift } = (await page.evaluate('measured')) as Record<
    'lcp' | 'drawn' | 'shift',
    number
  >;
  await ready(page);
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.close();
  return { scriptBytes: scriptBytes(), calls, lcpMs: lcp, drawnMs: drawn, shift };
}
