import { launchChromium } from '../../testing/browser.ts';
import { LARGE_PIECES, largeText, openMarkdownStage } from '../../testing/console/markdownStage.ts';
import { percentile } from '../load.ts';

// The longest task of a browser that draws a million characters of a model's answer, as Markdown.

/** From here on a browser calls a task long. */
const LONG_TASK_MS = 50;
/** The time without a frame is that of a task and the wait for the next frame. */
const FRAME_MS = 17;
const DRAWINGS = 5;

const browser = await launchChromium();
try {
  const stage = await openMarkdownStage(await browser.newPage());
  console.log('| repeated | longest task, ms | goal | reached |\n|---|---|---|---|');
  for (const piece of LARGE_PIECES) {
    const longest: number[] = [];
    for (let drawing = 0; drawing < DRAWINGS; drawing += 1) {
      longest.push(Math.max(...(await stage.frames(largeText(piece)))) - FRAME_MS);
    }
    const ms = percentile(longest, 50);
    const isReached = ms < LONG_TASK_MS;
    if (!isReached) process.exitCode = 1;
    const name = JSON.stringify(piece).replaceAll('|', '\\|');
    console.log(`| ${name} | ${ms.toFixed(0)} | ${LONG_TASK_MS} | ${isReached ? 'yes' : 'NO'} |`);
  }
  stage.close();
} finally {
  await browser.close();
}
