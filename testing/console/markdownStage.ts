import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { build } from 'esbuild';
import type { Page } from 'playwright-core';
import { appPolicy } from '../../api/console/pages/policy.ts';

const CHECKOUT = join(import.meta.dirname, '../..');

/** What the longest texts repeat. */
export const LARGE_PIECES = [
  ...['*', '_ ', '`', '[', '](', '> ', '>', '- ', '- a\n', '1. a\n', 'a\n\n', '*a* ', '# a\n'],
  ...['|', '|a|b|\n|-|-|\n', '```\n', 'a', 'a ', '\n', '[a](https://b.example) ', '<', '\\'],
  'https://',
];
const LARGE_CHARACTERS = 1_000_000;

/** A text of a million characters. */
export const largeText = (piece: string): string =>
  piece.repeat(Math.ceil(LARGE_CHARACTERS / piece.length));

/** Draws a text with the app's component, and says what it became. */
const STAGE = `
  import { createElement } from 'react';
  import { flushSync } from 'react-dom';
  import { createRoot } from 'react-dom/client';
  import { Markdown } from './console/markdown/markdown.tsx';
  const place = document.querySelector('main');
  let root;
  window.stage = {
    draw(text) {
      root?.unmount();
      root = createRoot(place);
      flushSync(() => root.render(createElement(Markdown, { text })));
    },
    /** The milliseconds between the frames of a text: what is in sight is laid out for its first. */
    async frames(text) {
      const times = [performance.now()];
      this.draw(text);
      for (let frame = 0; frame < 4; frame += 1) {
        await new Promise((resolve) => requestAnimationFrame(resolve));
        times.push(performance.now());
      }
      return times.slice(1).map((time, at) => time - times[at]);
    },
  };
`;

/** What the stage can be asked. */
export interface MarkdownStage {
  frames(text: string): Promise<number[]>;
  close(): void;
}

/** Opens a page of its own, under the policy of the app, with the component alone. */
export async function openMarkdownStage(page: Page): Promise<MarkdownStage> {
  const files = await bundle();
  const server = createServer(({ url = '' }, response) => {
    const [type, content] = files[url] ?? ['text/plain', ''];
    const headers = { 'content-type': type, 'content-security-policy': appPolicy([]) };
    response.writeHead(200, headers).end(content);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  return {
    frames: (text) => page.evaluate(`stage.frames(${JSON.stringify(text)})`),
    close: () => void server.close(),
  };
}

/** By path: type and content. */
async function bundle(): Promise<Readonly<Record<string, readonly [string, string]>>> {
  const { outputFiles } = await build({
    stdin: { contents: STAGE, resolveDir: CHECKOUT },
    absWorkingDir: CHECKOUT,
    bundle: true,
    minify: true,
    write: false,
    outdir: '/',
    define: { 'process.env.NODE_ENV': '"production"' },
    ...{ jsx: 'automatic', jsxImportSource: '#console', loader: { '.css': 'local-css' } },
  });
  const textOf = (ending: string): string => {
    const file = outputFiles.find(({ path }) => path.endsWith(ending));
    if (!file) throw new Error(`esbuild wrote no ${ending}`);
    return file.text;
  };
  const html =
    '<!doctype html><meta charset="utf-8"><link rel="stylesheet" href="/stage.css">' +
    '<main></main><script src="/stage.js"></script>';
  return {
    '/': ['text/html', html],
    '/stage.css': ['text/css', textOf('.css')],
    '/stage.js': ['text/javascript', textOf('.js')],
  };
}
