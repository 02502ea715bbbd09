import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { anchorsOf, checkout, linksOf, readDocuments } from './documents.ts';

describe.each(readDocuments())('$path', (document) => {
  it('links only to existing files and headings', () => {
    const broken = linksOf(document).filter(({ target, anchor }) => {
      const path = join(checkout, target);
      if (!existsSync(path)) return true;
      return anchor !== undefined && !anchorsOf(readFileSync(path, 'utf8')).includes(anchor);
    });

    expect(broken).toEqual([]);
  });

  it('names only existing files of the project', () => {
    const named = [
      ...document.text.matchAll(
        /`((?:tests|programs|docs|api|indexer|worker|stack|cli|runtime|bench|examples|testing|webhooks)\/[\w./-]+\.\w+)`/g,
      ),
    ];

    const missing = named
      .map(([, path = '']) => path)
      .filter((path) => !existsSync(join(checkout, path)));

    expect(missing).toEqual([]);
  });
});

describe('SECURITY.md', () => {
  it('names only existing tests, by their path below tests', () => {
    const { text = '' } = readDocuments().find(({ path }) => path === 'SECURITY.md') ?? {};
    const named = [...text.matchAll(/`([a-z]\w*(?:\/\w+)+)`/g)].map(([, name = '']) => name);

    expect(named.length).toBeGreaterThan(100);
    expect(named.filter((name) => !existsSync(join(checkout, 'tests', `${name}.test.ts`)))).toEqual(
      [],
    );
  });
});
