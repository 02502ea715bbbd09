import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { checkout, codeBlocks, readDocuments } from './documents.ts';

const document = readDocuments().find(({ path }) => path === 'docs/verify-a-job.md');
if (!document) throw new Error('docs/verify-a-job.md is gone');
const shown = codeBlocks(document, ['console']).join('\n');

describe('the sample output in docs/verify-a-job.md', () => {
  it('has the hash and the size of the committed binary', () => {
    const artifact = readFileSync(join(checkout, 'programs/escrow/artifacts/escrow-v3.so'));
    const sha256 = createHash('sha256').update(artifact).digest('hex');

    expect([...shown.matchAll(/sha256 ([0-9a-f…]+),/g)].map(([, hash]) => hash)).toEqual([sha256]);
    expect([...shown.matchAll(/(\d+) bytes\. /g)].map(([, bytes]) => Number(bytes))).toEqual([
      artifact.length,
    ]);
  });
});
