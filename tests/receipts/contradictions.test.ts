import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Keypair, PublicKey } from '@solana/web3.js';
import { createAddresses } from '../../programs/client/addresses.ts';
import { checkout } from '../../programs/tools/artifacts.ts';
import { flip, forgeEvent, plusOne, set } from '../auditors/forgeries/forge.ts';
import { PYTHON, runInPython } from './runInPython.ts';
import type { ExpectedVerdict, JobCase, Vectors } from './vectors/cases.ts';
import { resultOf } from './vectors/runCase.ts';
import type { SnapshotChanges, SnapshotTransaction } from './vectors/snapshot.ts';

const vectors = JSON.parse(
  readFileSync(join(checkout, 'receipts/vectors.json'), 'utf8'),
) as Vectors;
const NAME = 'legacy';
const node = vectors.nodes[NAME] as Vectors['nodes'][string];
const stranger = Keypair.fromSeed(new Uint8Array(32).fill(9)).publicKey;

const jobOf = (name: string): string => {
  const found = vectors.cases.find((one) => one.name === `${NAME}: ${name}`) as JobCase;
  return found.job as string;
};

type Change = (shown: SnapshotTransaction) => void;

/** Says something else of one job's event. */
function inEvent(job: string, name: string, change: Parameters<typeof forgeEvent>[1]): Change {
  const forgery = forgeEvent(name, change, new PublicKey(job));
  return (shown) => void forgery.transaction?.(shown as never);
}

/** The transactions in which something changes. */
function changed(...made: readonly Change[]): SnapshotChanges {
  const entries = Object.entries(node.transactions).flatMap(([signature, shown]) => {
    const copy = structuredClone(shown);
    if (copy) for (const change of made) change(copy);
    return isDeepStrictEqual(copy, shown) ? [] : [[signature, copy] as const];
  });
  expect(entries.length).toBeGreaterThan(0);
  return { transactions: Object.fromEntries(entries) };
}

/** The Worker account is the only one that names its registration. */
function withoutWorker(): SnapshotChanges {
  const jobs = new Set(vectors.cases.map((one) => ('job' in one ? one.job : undefined)));
  const others = Object.keys(node.accounts).filter((address) => !jobs.has(address));
  return { accounts: Object.fromEntries(others.map((address) => [address, null])) };
}

interface Sight {
  readonly job: string;
  readonly changes: SnapshotChanges;
  readonly fails?: string;
  readonly holds?: string;
}

const [settled, closed, expired, alone] = ['settled', 'closed', 'expired', 'alone'].map(jobOf) as [
  ...[string, string, string, string],
];

const sights: Readonly<Record<string, () => Sight>> = {
  'the wrong payer of a rent whose return is not known': () => ({
    job: closed,
    changes: changed(inEvent(closed, 'JobClosed', set('rent_payer', createAddresses().vault))),
    fails: 'account.closed',
  }),
  'another proven hash, where the wallet is not seen to sign': () => ({
    job: expired,
    changes: changed(
      inEvent(expired, 'JobLocked', set('wallet', stranger)),
      inEvent(expired, 'DisputeAmended', flip('output_hash')),
    ),
    fails: 'dispute.amended',
  }),
  'a payment of another amount, where the payout is not known': () => ({
    job: settled,
    changes: {
      ...withoutWorker(),
      ...changed(inEvent(settled, 'JobSettled', plusOne('worker_base_units'))),
    },
    fails: 'settlement.worker_payment',
  }),
  'the bytes of another version than the node names': () => ({
    job: settled,
    changes: changed((shown) => Object.assign(shown, { version: 0 })),
    fails: 'history.signatures',
  }),
  'the payment of the worker that settled, where another one proved': () => ({
    job: alone,
    changes: changed(inEvent(alone, 'JobProven', set('worker', stranger))),
    holds: 'settlement.worker_payment',
  }),
};

const cases = Object.entries(sights).map(([name, sight]) => ({ name, ...sight() }));

/** What our verification says of it. */
async function judge({ name, job, changes }: (typeof cases)[number]) {
  const one = { kind: 'job', name, node: NAME, job, changes } as const;
  const expected = (await resultOf(one as unknown as JobCase, vectors)) as ExpectedVerdict;
  return { ...one, expected };
}

describe('a contradiction goes before evidence that is missing', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'svc-contradictions-'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each(cases)('$name', async (one) => {
    const { expected } = await judge(one);
    expect(expected.failing).toEqual(expect.arrayContaining(one.fails ? [one.fails] : []));
    expect([...expected.failing, ...expected.not_checkable]).not.toContain(one.holds);
  });

  (PYTHON.isReady ? it : it.skip)('in the Python file, too', async () => {
    const path = join(folder, 'cases.json');
    const judged = await Promise.all(cases.map(judge));
    writeFileSync(path, JSON.stringify({ ...vectors, cases: judged }));
    const count = cases.length;
    expect(await runInPython(path)).toEqual({
      code: 0,
      output: `${count} of ${count} cases as expected.\n`,
    });
  });
});
