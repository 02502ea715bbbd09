import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { buildDocument } from '../../api/docs/document.ts';
import { referencePage } from '../../api/docs/referencePage.ts';
import { checkout } from './documents.ts';

const folder = join(checkout, 'examples/api');
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) =>
  /\.(sh|py|ts)$/.test(path),
);
const document = buildDocument('https://api.example.com');
const shown = Object.values(document.paths).flatMap((methods) =>
  Object.values(methods).flatMap((operation) => operation['x-codeSamples'] ?? []),
);

describe('the examples of the reference', () => {
  it('are exactly the files of examples/api', () => {
    const sources = new Set(files.map((file) => readFileSync(join(folder, file), 'utf8')));

    expect(new Set(shown.map(({ source }) => source))).toEqual(sources);
  });

  it('are the same in every language', () => {
    const topics = (language: string) =>
      readdirSync(join(folder, language)).map((file) => file.replace(/\.\w+$/, ''));

    expect(topics('python')).toEqual(topics('curl'));
    expect(topics('typescript')).toEqual(topics('curl'));
  });

  it('can be read on the page, each under its name', () => {
    const { text } = referencePage(document);

    for (const { label } of shown) expect(text).toContain(`<summary>${label}</summary>`);
    expect(text).toContain('client.chat.completions');
  });

  it.each(files)('%s contains no address and no key', (file) => {
    const source = readFileSync(join(folder, file), 'utf8');

    // A receiver of webhooks calls nothing.
    if (!/^(python|typescript)\/webhook\./.test(file)) {
      expect(source).toMatch(/BASE_URL/);
      expect(source).toMatch(/API_KEY/);
    }
    expect(source).not.toMatch(/https?:|svc_live_/);
  });
});
