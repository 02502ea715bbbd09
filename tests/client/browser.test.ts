import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Connection, Keypair, type PublicKey } from '@solana/web3.js';
import {
  auditProgram,
  gatherEvidence,
  gatherProgram,
  sign,
  verifyJob,
} from '../../programs/client/index.ts';
import type { LedgerConnection } from '../../programs/client/ledgerConnection.ts';
import { findChromium } from '../../testing/browser.ts';
import { addresses, OUTPUT } from '../../testing/ledger/jobScene.ts';
import { createRandom } from '../../testing/random.ts';
import { createForgedScene, type ForgedScene, JOB_NAMES } from '../auditors/forgedScene.ts';
import { FORGERIES } from '../auditors/forgeries/all.ts';
import { type ForgeryCase, ofUnknownVersion } from '../auditors/forgeries/forge.ts';
import { LOCK_FORGERIES } from '../auditors/forgeries/lock.ts';
import type { Forgery, TransactionJson } from '../auditors/forgeries/node.ts';
import {
  type Bundle,
  bundleForBrowser,
  type Runtime,
  runHere,
  runInChromium,
  runInVm,
} from './browserBundle.ts';
import { ARTIFACT, describeChecks } from './browserProgram.ts';

type Verification = typeof import('../../programs/client/verify/index.ts');

const GZIP_BYTES_MAX = 80_000;
const random = createRandom();
const chromiumPath = findChromium(process.env);

/** Nodes by their names, which a bundle can say. */
const nodes = new Map<string, Connection>();

/** The bare call, as web3.js makes it: the answer is not read yet. */
type RawConnection = { _rpcRequest(method: string, params: unknown[]): Promise<object> };

async function host(text: string): Promise<string> {
  const { node, method, params } = JSON.parse(text);
  const connection = nodes.get(node) as unknown as RawConnection;
  return JSON.stringify(await connection._rpcRequest(method, params));
}

function register(connection: Connection): string {
  const name = String(nodes.size);
  nodes.set(name, connection);
  return name;
}

/** Gives both builds the same lie, even one with a random part. */
function forgeOnce(forgery: Forgery): Forgery {
  const made = new Map<string, TransactionJson | null | undefined>();
  return {
    ...forgery,
    transaction(transaction) {
      const key = transaction.transaction.signatures.join();
      if (!made.has(key)) made.set(key, forgery.transaction?.(transaction));
      return structuredClone(made.get(key));
    },
  };
}

/** Names of the checks that fail. */
function failing(described: string): string[] {
  const { checks } = JSON.parse(described) as { checks: { name: string; verdict: string }[] };
  return checks.filter(({ verdict }) => verdict === 'fails').map(({ name }) => name);
}

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

const runtimes = [
  ...(chromiumPath ? (['Chromium'] as const) : (['node:vm (there is no Chromium here)'] as const)),
];

describe.each(runtimes)(`verification in %s (seed ${random.seed})`, () => {
  let scene: ForgedScene;
  let runtime: Runtime;

  beforeAll(async () => {
    scene = await createForgedScene();
    const { code } = await bundleForBrowser('tests/client/browserProgram.ts');
    runtime = chromiumPath
      ? await runInChromium(code, chromiumPath, host)
      : await runInVm(code, host);
  });

  afterAll(async () => {
    await runtime?.close();
    await scene?.ledger.close();
  });

  async function verifyOnNode(
    connection: LedgerConnection,
    job: PublicKey,
    client: { output?: string; receipt?: string } = {},
  ) {
    const { output, receipt } = client;
    const wait = async () => {};
    const evidence = await gatherEvidence({ connection, addresses, job, wait });
    return describeChecks(
      verifyJob(evidence, { output: output ? Buffer.from(output, 'latin1') : undefined, receipt })
        .checks,
    );
  }

  async function auditOnNode(): Promise<string> {
    const { connection } = scene.ledger;
    return describeChecks(auditProgram(await gatherProgram({ connection, addresses }), ARTIFACT));
  }

  const verifyInBrowser = (node: string, job: PublicKey, client: object = {}) =>
    runtime.call('verify', JSON.stringify({ node, job: job.toBase58(), ...client }));

  it('runs without the globals of Node', async () => {
    expect(await runtime.nodeGlobals()).toBe('');
  });

  it.each(FORGERIES)(
    'judges a node that forges $what as Node does',
    async ({ job, forgery, fails }) => {
      const connection = scene.node.connection(forgeOnce(forgery(scene.jobs)));
      const onNode = await verifyOnNode(connection, scene.jobs[job]);
      const inBrowser = await verifyInBrowser(register(connection), scene.jobs[job]);
      expect(JSON.parse(inBrowser)).toEqual(JSON.parse(onNode));
      expect(failing(inBrowser)).toEqual(fails);
    },
  );

  it.each(JOB_NAMES)('judges an honest node as Node does: %s', async (name) => {
    const connection = scene.node.connection({});
    const onNode = await verifyOnNode(connection, scene.jobs[name]);
    const inBrowser = await verifyInBrowser(register(connection), scene.jobs[name]);
    expect(JSON.parse(inBrowser)).toEqual(JSON.parse(onNode));
    expect(JSON.parse(inBrowser).result).toBe('holds');
  });

  it("judges the client's evidence as Node does", async () => {
    const connection = scene.node.connection({});
    const node = register(connection);
    const job = scene.jobs.settled;
    const receipt = scene.receipt(job);
    const clients = [
      { output: OUTPUT, receipt },
      { output: `${OUTPUT}\n`, receipt },
      { output: 'another answer', receipt: scene.receipt(scene.jobs.reassigned) },
      { receipt: `${receipt}=` },
      { receipt: receipt.slice(0, -1) },
      { receipt: 'no receipt' },
    ];
    const results: string[] = [];
    for (const client of clients) {
      const onNode = await verifyOnNode(connection, job, client);
      expect(JSON.parse(await verifyInBrowser(node, job, client))).toEqual(JSON.parse(onNode));
      results.push(JSON.parse(onNode).result);
    }
    expect(results).toEqual(['holds', 'fails', 'fails', 'fails', 'fails', 'fails']);
  });

  it('judges a node that hides a transaction as Node does', async () => {
    const refusal = () => ({ code: -32_015, message: 'Transaction version (1) is not supported' });
    for (const forgery of [{ refusal }, { transaction: () => null }]) {
      const connection = scene.node.connection(forgery);
      const onNode = await verifyOnNode(connection, scene.jobs.settled);
      const inBrowser = await verifyInBrowser(register(connection), scene.jobs.settled);
      expect(JSON.parse(inBrowser)).toEqual(JSON.parse(onNode));
      expect(JSON.parse(inBrowser).result).toBe('not_checkable');
    }
  });

  it('judges a transaction of an unknown version as Node does', async () => {
    const job = scene.jobs.closed;
    for (const [event, result] of [
      ['JobClosed', 'holds'],
      ['JobSettled', 'not_checkable'],
    ] as const) {
      const forgery = ofUnknownVersion([event]);
      const onNode = await verifyOnNode(scene.node.reader(forgery), job);
      const inBrowser = await verifyInBrowser(register(scene.node.connection(forgery)), job);
      expect(JSON.parse(inBrowser)).toEqual(JSON.parse(onNode));
      expect(JSON.parse(inBrowser).result).toBe(result);
    }
  });

  it('accepts keys and connections of web3.js', async () => {
    const { code } = await bundleForBrowser('programs/client/verify/index.ts');
    const { createAddresses, ...bundled } = runHere<Verification>(code);
    const lock = LOCK_FORGERIES[0] as ForgeryCase;
    for (const forgery of [{}, forgeOnce(lock.forgery(scene.jobs))]) {
      const [connection, job] = [scene.node.connection(forgery), scene.jobs[lock.job]];
      const own = createAddresses(addresses.programId);
      const evidence = await bundled.gatherEvidence({ connection, addresses: own, job });
      expect(evidence.job.constructor).not.toBe(own.config.constructor);
      expect(JSON.parse(describeChecks(bundled.verifyJob(evidence).checks))).toEqual(
        JSON.parse(await verifyOnNode(connection, job)),
      );
    }
    // A forging node asks the real one for each thing once only: to it no time passes.
    const { connection } = scene.ledger;
    const own = createAddresses(addresses.programId);
    const program = await bundled.gatherProgram({ connection, addresses: own });
    expect(describeChecks(bundled.auditProgram(program, ARTIFACT))).toBe(await auditOnNode());
  });

  it('audits the program as Node does', async () => {
    const inBrowser = await runtime.call('audit', register(scene.ledger.connection));
    const onNode = await auditOnNode();
    expect(JSON.parse(inBrowser)).toEqual(JSON.parse(onNode));
    const { checks } = JSON.parse(onNode) as { checks: { name: string; verdict: string }[] };
    const others = checks.filter(({ verdict }) => verdict !== 'holds').map(({ name }) => name);
    expect(others).toEqual(['program.code']);
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
    const identity = Uint8Array.of(1, ...new Uint8Array(31));
    const zeros = Uint8Array.of(...identity, ...new Uint8Array(32));
    expect(await check({ key: identity, message, signature: zeros })).toBe('false');
  });
});
