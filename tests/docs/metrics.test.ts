import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { checkout, readDocuments } from './documents.ts';

const METRIC = /\bsvc_(?:api|indexer|webhook|keeper|abuse|helius)_[a-z_]+/g;
/** What Prometheus appends to a histogram's name. */
const OF_HISTOGRAM = /_(?:count|sum|bucket)$/;

const shown = ['api', 'indexer']
  .flatMap((folder) =>
    readdirSync(join(checkout, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts'))
      .map((path) => readFileSync(join(checkout, folder, path), 'utf8')),
  )
  .flatMap((source) => [...source.matchAll(/'(svc_[a-z]+_[a-z_]+)'/g)])
  .map(([, name = '']) => name);
const documented = new Set(
  readDocuments().flatMap(({ text }) =>
    [...text.matchAll(METRIC)].map(([name]) => name.replace(OF_HISTOGRAM, '')),
  ),
);

describe('the metrics', () => {
  it('are all described in the documents, for each process', () => {
    expect(shown.length).toBeGreaterThan(20);
    expect(shown.filter((name) => !documented.has(name))).toEqual([]);
  });

  it('are all exported by a process where the documents name them', () => {
    expect([...documented].filter((name) => !shown.includes(name))).toEqual([]);
  });
});
