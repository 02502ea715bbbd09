import { appendFile } from 'node:fs/promises';
import type { BrowserContext, Page } from 'playwright-core';
import { APP_PATHS } from '../../console/routes.ts';
import { readStackFile, STACK_FOLDER } from '../../stack/stackFile.ts';
import { launchChromium, openSignedIn } from '../../testing/browser.ts';

// What the pages of the running stack cost a browser whose processor is four times as slow: bytes of
// script as served, largest contentful paint, layout shift, and calls of the API for each view.
// Start the stack with `npm start` first, in this folder. OUT=file adds the table to a file.

const SLOWDOWN = 4;
const SETTLE_MS = 2_500;
const KILOBYTE = 1_000;

/** Told by the page itself: the newest paint, and the sum of all shifts that nobody asked for. */
const OBSERVE = `
  window.measured = { lcp: 0, shift: 0 };
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) measured.lcp = entry.startTime;
  }).observe({ type: 'largest-contentful-paint', buffered: true });
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (!entry.hadRecentInput) measured.shift += entry.value;
  }).observe({ type: 'layout-shift', buffered: true });
`;

interface Cost {
  readonly scriptBytes: number;
  readonly calls: number;
  readonly lcpMs: number;
  readonly shift: number;
}

const stack = readStackFile(STACK_FOLDER);
if (stack === undefined) throw new Error('No stack runs here: begin with npm start.');
const browser = await launchChromium();
const context = await browser.newContext();
await (await openSignedIn(context, stack.baseUrl, 'wallet')).close();
await context.addInitScript(OBSERVE);
const lines = ['| page | script, kB | calls | LCP, ms | shift |', '|---|---|---|---|---|'];
for (const path of [...APP_PATHS.filter((one) => !one.includes(':')), '/verify']) {
  const cost = await measure(context, `${stack.baseUrl}${path}`);
  const kilobytes = (cost.scriptBytes / KILOBYTE).toFixed(0);
  const shift = cost.shift.toFixed(3);
  lines.push(`| ${path} | ${kilobytes} | ${cost.calls} | ${cost.lcpMs.toFixed(0)} | ${shift} |`);
}
await browser.close();
console.log(lines.join('\n'));
if (process.env.OUT) await appendFile(process.env.OUT, `${lines.join('\n')}\n`);

async function measure(around: BrowserContext, url: string): Promise<Cost> {
  const page = await around.newPage();
  const devtools = await around.newCDPSession(page);
  await devtools.send('Network.enable');
  await devtools.send('Network.setCacheDisabled', { cacheDisabled: true });
  await devtools.send('Emulation.setCPUThrottlingRate', { rate: SLOWDOWN });
  const scripts = new Set<string>();
  let scriptBytes = 0;
  let calls = 0;
  devtools.on('Network.responseReceived', ({ requestId, type, response }) => {
    if (type === 'Script') scripts.add(requestId);
    if (response.url.includes('/console/api/')) calls += 1;
  });
  devtools.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    if (scripts.has(requestId)) scriptBytes += encodedDataLength;
  });
  await page.goto(url);
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.waitForTimeout(SETTLE_MS);
  const { lcp, shift } = await measuredOf(page);
  await page.close();
  return { scriptBytes, calls, lcpMs: lcp, shift };
}

function measuredOf(page: Page): Promise<{ lcp: number; shift: number }> {
  return page.evaluate('measured');
}
