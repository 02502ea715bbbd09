import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Connection, Keypair } from '@solana/web3.js';
import { gatherEvidence, gatherProgram, sign } from '../../programs/client/index.ts';
import { auditProgram, verifyJob } from '../../programs/client/verify/index.ts';
import { findChromium } from '../../testing/browser.ts';
import { interceptedConnection } from '../../testing/ledger/interceptedConnection.ts';
import {
  addresses,
  createJobScene,
  type JobScene,
  type LockedJob,
  OUTPUT,
} from '../../testing/ledger/jobScene.ts';
import { createRandom } from '../../testing/random.ts';
import {
  type Bundle,
  bundleForBrowser,
  type Runtime,
  runHere,
  runInChromium,
  runInVm,
} from './browserBundle.ts';
import { ARTIFACT, audit, describeChecks, PublicKey, verify } from './browserProgram.ts';

type Verification = typeof import('../../programs/client/verify/index.ts');

const GZIP_BYTES_MAX = 80_000;
const random = createRandom();
const chromiumPath = findChromium(process.env);

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
type Lie = (result: TransactionJson) => object;
interface TransactionJson {
  readonly transaction: { readonly message: object };
}
const tooNew = { code: -32_015, message: 'Transaction version (1) is not supported' };
const NODES: Readonly<Record<string, Lie>> = {
  honest: (result) => ({ result }),
  'without transactions': () => ({ result: null }),
  'of an older version': () => ({ error: tooNew }),
  'of another transaction': ({ transaction, ...rest }) => {
    const message = { ...transaction.message, recentBlockhash: PublicKey.default.toBase58() };
    return { result: { ...rest, transaction: { ...transaction, message } } };
  },
};

describe(`verification in ${chromiumPath ? 'Chromium' : 'node:vm (there is no Chromium here)'} (seed ${random.seed})`, () => {
  const nodes = new Map<string, Connection>();
  let scene: JobScene;
  let runtime: Runtime;
  let jobs: Readonly<Record<'settled' | 'failed' | 'upheld', string>>;

  /** The bare call, as web3.js makes it: the answer is not read yet. */
  async function host(text: string): Promise<string> {
    const { node, method, params } = JSON.parse(text);
    const connection = nodes.get(node) as unknown as {
      _rpcRequest(method: string, params: unknown[]): Promise<object>;
    };
    return JSON.stringify(await connection._rpcRequest(method, params));
  }

  beforeAll(async () => {
    scene = await createJobScene();
    // The real one is asked for each thing once, so that no time passes between two judgements.
    const answers = new Map<string, Promise<object>>();
    for (const [name, lie] of Object.entries(NODES)) {
      const connection = interceptedConnection(scene.ledger.rpcUrl, async (request, forward) => {
        const asked = JSON.stringify([request.method, request.params]);
        answers.set(asked, answers.get(asked) ?? forward(request));
        const answer = {
          ...((await answers.get(asked)) as { result: TransactionJson | null }),
          id: request.id,
        };
        if (request.method !== 'getTransaction' || answer.result === null) return answer;
        return { jsonrpc: '2.0', id: request.id, ...lie(answer.result) };
      });
      nodes.set(name, connection);
    }
    nodes.set('real', scene.ledger.connection);
    const locked = (await scene.lock({ count: 3, tokenLimit: 2_000 })) as LockedJob[];
    const [settled, failed, upheld] = locked.map(({ address }) => address) as [never, never, never];
    await scene.acknowledge(settled);
    await scene.settle(settled);
    await scene.fail(failed);
    await scene.complete(upheld);
    await scene.dispute(upheld);
    await scene.resolve(upheld, 'upheld_worker');
    jobs = { settled: `${settled}`, failed: `${failed}`, upheld: `${upheld}` };
    const { code } = await bundleForBrowser('tests/client/browserProgram.ts');
    runtime = chromiumPath
      ? await runInChromium(code, chromiumPath, host)
      : await runInVm(code, host);
    Object.assign(globalThis, { host });
  });

  afterAll(async () => {
    Reflect.deleteProperty(globalThis, 'host');
    await runtime?.close();
    await scene?.ledger.close();
  });

  /** Runs it in both. @returns what both say */
  async function inBoth(name: 'verify' | 'audit', input: string) {
    const inBrowser = JSON.parse(await runtime.call(name, input));
    expect(inBrowser).toEqual(JSON.parse(await { verify, audit }[name](input)));
    return inBrowser as { result: string; checks: { name: string; verdict: string }[] };
  }

  it('runs without the globals of Node', async () => {
    expect(await runtime.nodeGlobals()).toBe('');
  });

  it.each([
    ['settled', 'honest', 'holds'],
    ['failed', 'honest', 'holds'],
    ['upheld', 'honest', 'holds'],
    ['settled', 'without transactions', 'not_checkable'],
    ['settled', 'of an older version', 'not_checkable'],
    ['upheld', 'of another transaction', 'fails'],
  ] as const)('judges a job that %s by a node %s as Node does', async (name, node, result) => {
    const found = await inBoth('verify', JSON.stringify({ node, job: jobs[name] }));
    expect(found.result).toBe(result);
  });

  it("judges the client's evidence as Node does", async () => {
    const [job, other] = [jobs.settled, jobs.upheld];
    const receiptOf = (address: string) => scene.receipt(new PublicKey(address));
    const receipt = receiptOf(job);
    for (const [client, result] of [
      [{ output: OUTPUT, receipt }, 'holds'],
      [{ output: `${OUTPUT}\n`, receipt }, 'fails'],
      [{ output: OUTPUT, receipt: receiptOf(other) }, 'fails'],
      [{ receipt: `${receipt}=` }, 'fails'],
    ] as const) {
      const found = await inBoth('verify', JSON.stringify({ node: 'honest', job, ...client }));
      expect(found.result).toBe(result);
    }
  });

  it('audits the program as Node does', async () => {
    const { checks } = await inBoth('audit', 'real');
    const others = checks.filter(({ verdict }) => verdict !== 'holds').map(({ name }) => name);
    expect(others).toEqual(['program.code']);
  });

  it('accepts keys and connections of web3.js', async () => {
    const { code } = await bundleForBrowser('programs/client/verify/index.ts');
    const { createAddresses, ...bundled } = runHere<Verification>(code);
    const { connection } = scene.ledger;
    const own = createAddresses(addresses.programId);
    const job = new PublicKey(jobs.settled);
    const evidence = await bundled.gatherEvidence({ connection, addresses: own, job });
    expect(evidence.job.constructor).not.toBe(own.config.constructor);
    expect(describeChecks(bundled.verifyJob(evidence).checks)).toBe(
      describeChecks(verifyJob(await gatherEvidence({ connection, addresses, job })).checks),
    );
    const program = await bundled.gatherProgram({ connection, addresses: own });
    expect(describeChecks(bundled.auditProgram(program, ARTIFACT))).toBe(
      describeChecks(auditProgram(await gatherProgram({ connection, addresses }), ARTIFACT)),
    );
  });

  it('verifies signatures', async () => {
    const keypair = Keypair.fromSeed(random.bytes(32));
    const message = random.bytes(100);
    const signature = sign(message, keypair);
    const check = (parts: Record<string, Uint8Array>) =>
      runtime.call(
        'checkSignature',
        JSON.stringify(
          Object.fromEntries(Object.entries(parts).map(([name, bytes]) => [name, [...bytes]])),
        ),
      );
    const key = keypair.publicKey.toBytes();
    expect(await check({ key, message, signature })).toBe('true');
    expect(await check({ key, message: message.subarray(1), signature })).toBe('false');
  });
});
