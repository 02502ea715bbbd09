import { execFile } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { listFiles, ROOT } from '../tidy/sourceTree.ts';

// Two compilations.
jest.setTimeout(240_000);

const KIND = 'credit.withdrawn';
const MEANING = 'Credits were withdrawn.';

/** What a person writes: the kind, and the ledger event that it is sent for. */
const WRITTEN = {
  'webhooks/kinds.ts': [
    '  }),\n};\n',
    `  }),
  '${KIND}': kind('${MEANING}', {
    credits_withdrawn: credits(5),
    tx: tx(topupTx),
    chain_slot,
  }),
};
`,
  ],
  'indexer/webhooks/announce/eventSources.ts': [
    '\n};\n\nconst ANNOUNCED',
    `
  '${KIND}': {
    CreditWithdrawn: ({ data, signature, slot }) => ({
      wallet: data.wallet,
      data: {
        credits_withdrawn: creditsNumber(BigInt(data.credits)),
        tx: signature,
        chain_slot: Number(slot),
      },
    }),
  },
};

const ANNOUNCED`,
  ],
} as const;

const folder = mkdtempSync(join(tmpdir(), 'new-kind-'));

beforeAll(async () => {
  for (const path of listFiles()) cpSync(join(ROOT, path), join(folder, path));
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
});

afterAll(async () => {
  rmSync(folder, { recursive: true });
});

const run = (root: string, ...args: string[]) =>
  promisify(execFile)(process.execPath, args, { cwd: root });
const compile = (project: string) =>
  run(folder, 'node_modules/typescript/bin/tsc', '--noEmit', '-p', project);
const readCopy = (path: string): string => readFileSync(join(folder, path), 'utf8');

/**
 * Files of the copy that the checkout does not have so. A recursive listing would follow the link to
 * the dependencies, where other tests build at the same time.
 */
function touched(): string[] {
  return readdirSync(folder)
    .filter((name) => name !== 'node_modules')
    .flatMap((name) => filesIn(join(folder, name)))
    .map((path) => relative(folder, path))
    .filter((path) => !existsSync(join(ROOT, path)) || !hasSameText(path))
    .sort();
}

const filesIn = (path: string): string[] =>
  statSync(path).isFile() ? [path] : readdirSync(path).flatMap((name) => filesIn(join(path, name)));

const hasSameText = (path: string): boolean =>
  readFileSync(join(ROOT, path)).equals(readFileSync(join(folder, path)));

describe('the files that are made from the kinds of events', () => {
  it('are what bin/webhookEvents.ts makes of them', async () => {
    await expect(run(ROOT, 'bin/webhookEvents.ts', '--check')).resolves.toBeDefined();
  });
});

describe('a new kind of event', () => {
  it('touches five files, three of which are made', async () => {
    for (const [path, [place, text]] of Object.entries(WRITTEN)) {
      const [before = '', ...after] = readCopy(path).split(place);
      expect(after).toHaveLength(1);
      writeFileSync(join(folder, path), [before, ...after].join(text));
    }
    await expect(run(folder, 'bin/webhookEvents.ts', '--check')).rejects.toThrow(
      'webhooks/generated/events.ts differs from webhooks/kinds.ts',
    );
    await run(folder, 'bin/webhookEvents.ts');
    expect(touched()).toEqual([
      'docs/webhooks.md',
      'indexer/webhooks/announce/eventSources.ts',
      'webhooks/generated/events.ts',
      'webhooks/generated/labels.ts',
      'webhooks/kinds.ts',
    ]);
  });

  it.each(['.', 'console'])('compiles in the project %s', async (project) => {
    await expect(compile(project)).resolves.toMatchObject({ stdout: '' });
  });
});
