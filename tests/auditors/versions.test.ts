import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { verify as verifyInConsole } from '../../console/verification/verify.ts';
import { PROGRAM_ID } from '../../programs/client/index.ts';
import { conclude } from '../../programs/client/verify/check.ts';
import { gatherEvidence } from '../../programs/client/verify/job/gatherEvidence.ts';
import { runCli } from '../../testing/cli.ts';
import { type History, makeHistory } from '../../testing/ledger/history.ts';
import { addresses, createJobScene, type JobScene } from '../../testing/ledger/jobScene.ts';
import { type LedgerGate, startLedgerGate } from '../../testing/ledger/ledgerGate.ts';
import { findingsOf } from './findings.ts';
import { ofUnknownVersion } from './forgeries/forge.ts';
import {
  createForgingNode,
  type Forgery,
  type ForgingNode,
  type TransactionJson,
} from './forgeries/node.ts';

const JOBS = ['settled', 'refunded', 'expired'] as const satisfies (keyof History)[];

/** All of its transactions are of version 1. */
let scene: JobScene;
let history: History;
let node: ForgingNode;

beforeAll(async () => {
  scene = await createJobScene({ version: 1 });
  history = await makeHistory(scene);
  node = createForgingNode(scene.ledger.rpcUrl);
});

afterAll(() => scene?.ledger.close());

/** What needs no certain signer: strangers' mentions and proofs, refunds, expiries, credits bought. */
const BY_ROLE = ['JobLocked', 'JobAcknowledged', 'JobSettled', 'JobCompleted', 'JobDisputed'];
const unknown = ofUnknownVersion();
const byAnybody: Forgery = {
  transaction(transaction) {
    const known = structuredClone(transaction);
    const hasRole = ofUnknownVersion(BY_ROLE).transaction?.(known)?.version !== 1;
    return hasRole ? transaction : unknown.transaction?.(transaction);
  },
};

describe('a job among transactions of version 1', () => {
  it.each(JOBS)('holds: %s', async (job) => {
    const evidence = await gatherEvidence({
      connection: node.reader({}),
      addresses,
      job: history[job],
    });
    expect(findingsOf(evidence)).toMatchObject({ result: 'holds', fails: [], unchecked: [] });
  });

  it.each(JOBS)('holds where what strangers sent is of an unknown version: %s', async (job) => {
    const evidence = await gatherEvidence({
      connection: node.reader(byAnybody),
      addresses,
      job: history[job],
    });
    expect(findingsOf(evidence)).toMatchObject({ result: 'holds', fails: [], unchecked: [] });
  });
});

describe('a node with transactions of an unknown version', () => {
  let gate: LedgerGate;
  beforeAll(async () => {
    gate = await startLedgerGate(scene.ledger.rpcUrl);
    gate.intercept(async (request, forward) => {
      const answer = (await forward(request)) as { result: TransactionJson };
      if (request.method !== 'getTransaction') return answer;
      return { ...answer, result: byAnybody.transaction?.(answer.result) };
    });
  });
  afterAll(() => gate?.close());

  it('is read by svc verify', async () => {
    const job = history.refunded.toBase58();
    const { code, output } = await runCli(['verify', job, '--rpc', gate.url, '--json']);
    expect(output).toContain('signed bytes are not known: 1.');
    expect(code).toBe(0);
  });

  it('is read by svc audit', async () => {
    expect(await runCli(['audit', '--rpc', gate.url])).toMatchObject({ code: 0 });
  });

  it('is read by the web app', async () => {
    const named = history.refunded.toBase58();
    const programId = PROGRAM_ID.toBase58();
    const { checks } = await verifyInConsole({ rpcUrl: gate.url, programId, named });
    expect(conclude(checks)).toBe('holds');
  });
});
