import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { PublicKey } from '@solana/web3.js';
import {
  auditProgram,
  type Check,
  conclude,
  gatherEvidence,
  gatherProgram,
  verifyJob,
} from '../../programs/client/verify/index.ts';
import { interceptedConnection } from '../../testing/ledger/interceptedConnection.ts';
import {
  addresses,
  createJobScene,
  type JobScene,
  type LockedJob,
  OUTPUT,
} from '../../testing/ledger/jobScene.ts';
import { type Bundle, bundleForBrowser, runHere } from './browserBundle.ts';

type Verification = typeof import('../../programs/client/verify/index.ts');

const GZIP_BYTES_MAX = 80_000;
/** Not the program's code: the audit must say so. */
const ARTIFACT = { code: Uint8Array.of(1, 2, 3) };

describe.each(['verify', 'wallet'])('the bundle of %s for browsers', (entry) => {
  let bundle: Bundle;

  beforeAll(async () => {
    bundle = await bundleForBrowser(`programs/client/${entry}/index.ts`);
  });

  it('contains nothing of Node, Anchor and web3.js', () => {
    expect(bundle.builtins).toEqual([]);
    const packages = bundle.inputs.flatMap(
      (path) => /node_modules\/((@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? [],
    );
    expect([...new Set(packages)].toSorted()).toEqual([
      '@noble/curves',
      '@noble/hashes',
      '@scure/base',
    ]);
    expect(bundle.code).not.toMatch(/\bBuffer\b|\bprocess\.|\brequire\(/);
  });

  it('is at most 80 kB compressed', () => {
    expect(bundle.gzipBytes).toBeLessThanOrEqual(GZIP_BYTES_MAX);
  });
});

/** What a node says of a transaction in place of the truth. */
const LIES = {
  'of an honest node': (result: TransactionJson) => ({ result }),
  'of a node without transactions': () => ({ result: null }),
  'of a node of an older version': () => ({
    error: { code: -32_015, message: 'Transaction version (1) is not supported' },
  }),
  'of a node that changes a transaction': ({ transaction, ...rest }: TransactionJson) => {
    const message = { ...transaction.message, recentBlockhash: addresses.config.toBase58() };
    return { result: { ...rest, transaction: { ...transaction, message } } };
  },
} as const;
interface TransactionJson {
  readonly transaction: { readonly message: object };
}

/** It runs in Chromium in tests/package/packed.test.ts. */
describe('verification as bundled for browsers, with keys and connections of web3.js', () => {
  let scene: JobScene;
  let bundled: Verification;
  let jobs: Readonly<Record<'settled' | 'failed' | 'upheld', PublicKey>>;

  beforeAll(async () => {
    scene = await createJobScene();
    const locked = (await scene.lock({ count: 3, tokenLimit: 2_000 })) as LockedJob[];
    const [settled, failed, upheld] = locked.map(({ address }) => address) as [never, never, never];
    jobs = { settled, failed, upheld };
    await scene.acknowledge(settled);
    await scene.settle(settled);
    await scene.fail(failed);
    await scene.complete(upheld);
    await scene.dispute(upheld);
    await scene.resolve(upheld, 'upheld_worker');
    bundled = runHere<Verification>(
      (await bundleForBrowser('programs/client/verify/index.ts')).code,
    );
  });
  afterAll(() => scene?.ledger.close());

  const inWords = (checks: readonly Check[]) =>
    checks.map(({ evidence, ...check }) => ({
      ...check,
      evidence: evidence.map(({ signature, slot }) => `${signature} ${slot}`),
    }));

  /** A node's answers, each asked for once: no time passes between two judgements. */
  function connectionOf(says: keyof typeof LIES) {
    const answers = new Map<string, Promise<object>>();
    return interceptedConnection(scene.ledger.rpcUrl, async (request, forward) => {
      const asked = JSON.stringify([request.method, request.params]);
      answers.set(asked, answers.get(asked) ?? forward(request));
      const answer = (await answers.get(asked)) as { result: TransactionJson | null };
      const isChanged = request.method === 'getTransaction' && answer.result !== null;
      const shown = isChanged ? LIES[says](answer.result as TransactionJson) : answer;
      return { jsonrpc: '2.0', ...shown, id: request.id };
    });
  }

  /** Judges in both builds. @returns what both say */
  async function judge(name: keyof typeof jobs, says: keyof typeof LIES, client = {}) {
    const [job, connection] = [jobs[name], connectionOf(says)];
    const own = bundled.createAddresses(addresses.programId);
    const evidence = await bundled.gatherEvidence({ connection, addresses: own, job });
    expect(evidence.job.constructor).not.toBe(own.config.constructor);
    const { checks } = bundled.verifyJob(evidence, client);
    const onNode = verifyJob(await gatherEvidence({ connection, addresses, job }), client);
    expect(inWords(checks)).toEqual(inWords(onNode.checks));
    return conclude(onNode.checks);
  }

  it.each([
    ['settled', 'of an honest node', 'holds'],
    ['failed', 'of an honest node', 'holds'],
    ['upheld', 'of an honest node', 'holds'],
    ['settled', 'of a node without transactions', 'not_checkable'],
    ['settled', 'of a node of an older version', 'not_checkable'],
    ['upheld', 'of a node that changes a transaction', 'fails'],
  ] as const)('judges a job that %s by the word %s as Node does', async (name, says, result) => {
    expect(await judge(name, says)).toBe(result);
  });

  it("judges the client's evidence as Node does", async () => {
    const receipt = scene.receipt(jobs.settled);
    for (const [client, result] of [
      [{ output: Buffer.from(OUTPUT), receipt }, 'holds'],
      [{ output: Buffer.from(`${OUTPUT}\n`), receipt }, 'fails'],
      [{ output: Buffer.from(OUTPUT), receipt: scene.receipt(jobs.upheld) }, 'fails'],
      [{ receipt: `${receipt}=` }, 'fails'],
    ] as const) {
      expect(await judge('settled', 'of an honest node', client)).toBe(result);
    }
  });

  it('audits the program as Node does', async () => {
    const { connection } = scene.ledger;
    const own = bundled.createAddresses(addresses.programId);
    const program = await bundled.gatherProgram({ connection, addresses: own });
    const checks = inWords(bundled.auditProgram(program, ARTIFACT));
    const onNode = auditProgram(await gatherProgram({ connection, addresses }), ARTIFACT);
    expect(checks).toEqual(inWords(onNode));
    const others = checks.filter(({ verdict }) => verdict !== 'holds').map(({ name }) => name);
    expect(others).toEqual(['program.code']);
  });
});
