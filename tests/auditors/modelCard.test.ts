import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { PublicKey } from '@solana/web3.js';
import {
  gatherEvidence,
  gatherModel,
  modelCardHash,
  modelRetire,
  modelUpsert,
  verifyJob,
} from '../../programs/client/index.ts';
import type { ModelEvidence } from '../../programs/client/verify/job/evidence.ts';
import { addresses, createJobScene, type JobScene } from '../../testing/ledger/jobScene.ts';

const CARD = { source: 'https://models.example/8b', revision: '1', licence: 'MIT' };
const LATER_CARD = { ...CARD, revision: '2' };

let scene: JobScene;
/** Locked before any card was pinned, under the first one, and under the one after it. */
let jobs: Record<'unpinned' | 'first' | 'later', PublicKey>;

async function lock(): Promise<PublicKey> {
  const [job] = await scene.lock({ count: 1, tokenLimit: 500 });
  return job?.address as PublicKey;
}

async function pin(card: typeof CARD): Promise<void> {
  const authority = scene.service.operator.authority.publicKey;
  const { model } = scene.service;
  await scene.send([modelUpsert({ ...model, authority, cardHash: modelCardHash(card) })], []);
}

beforeAll(async () => {
  scene = await createJobScene();
  const authority = scene.service.operator.authority.publicKey;
  const unpinned = await lock();
  await pin(CARD);
  // A retirement says nothing of the card, and changes the model.
  await scene.send(
    [modelRetire({ authority, modelId: scene.service.model.id, retiresAt: 0n })],
    [],
  );
  const first = await lock();
  await pin(LATER_CARD);
  jobs = { unpinned, first, later: await lock() };
});

afterAll(() => scene?.ledger.close());

/** The check of a card, from what a node shows of the model. */
async function check(
  job: PublicKey,
  card: string | undefined,
  change: (model: ModelEvidence) => ModelEvidence = (model) => model,
) {
  const { connection } = scene.ledger;
  const gathered = await gatherEvidence({ connection, addresses, job });
  const { model, ...evidence } = await gatherModel({ connection, evidence: gathered });
  const shown = model ? { ...evidence, model: change(model) } : evidence;
  return verifyJob(shown, { card }).checks.find(({ name }) => name === 'model.card');
}

const verdictOf = async (...parameters: Parameters<typeof check>) =>
  (await check(...parameters))?.verdict;

describe("the card of a job's model", () => {
  it('is the one that was pinned when the job was locked', async () => {
    const { first, later } = jobs;
    const [card, laterCard] = [CARD, LATER_CARD].map((one) => JSON.stringify(one));
    expect(await check(first, card)).toMatchObject({
      verdict: 'holds',
      detail: expect.stringMatching(/promised sha256:[0-9a-f]{64}; what ran is not shown/),
      evidence: [{ signature: expect.any(String) }],
    });
    expect([
      await verdictOf(later, laterCard),
      await verdictOf(first, laterCard),
      await verdictOf(later, card),
    ]).toEqual(['holds', 'fails', 'fails']);
  });

  it('may be written in any form of the same JSON', async () => {
    const { source, revision, licence } = CARD;
    const written = JSON.stringify({ licence, revision, source }, undefined, 4);
    expect(await verdictOf(jobs.first, written)).toBe('holds');
    expect(await verdictOf(jobs.first, `\ufeff${written}`)).toBe('holds');
    expect(await check(jobs.first, '{')).toMatchObject({
      verdict: 'fails',
      detail: expect.stringContaining('has no canonical form'),
    });
    const { detail } = (await check(jobs.first, '\u001b[2J\u202e')) ?? {};
    expect(detail).toMatch(/^The card has no canonical form: [ -~]+$/);
  });

  it('is compared where one is given, and with no promise cannot be checked', async () => {
    expect(await check(jobs.first, undefined)).toMatchObject({
      verdict: 'not_applicable',
      evidence: [],
    });
    expect(await verdictOf(jobs.unpinned, JSON.stringify(CARD))).toBe('not_checkable');
  });

  it('cannot be checked where a change of the model is not shown', async () => {
    const card = JSON.stringify(CARD);
    const without = (hidden: bigint) => (model: ModelEvidence) => ({
      ...model,
      records: model.records.filter(({ data }) => data.modelSequence !== hidden),
    });
    const sequences = [2n, 3n, 4n];
    for (const hidden of sequences) {
      expect(await verdictOf(jobs.first, card, without(hidden))).toBe('not_checkable');
    }
    const { connection } = scene.ledger;
    const evidence = await gatherEvidence({ connection, addresses, job: jobs.first });
    const found = verifyJob(evidence, { card }).checks.find(({ name }) => name === 'model.card');
    expect(found?.verdict).toBe('not_checkable');
  });

  it('of a model that never changed is read from its account alone', async () => {
    const never = () => ({
      records: [],
      account: { sequence: 1n, cardHash: modelCardHash(CARD), contextWindowTokens: 32_768 },
    });
    expect(await verdictOf(jobs.first, JSON.stringify(CARD), never)).toBe('holds');
  });

  it('may be each of those of its slot, where a node gives no order', async () => {
    const inOneSlot = (model: ModelEvidence, slot: bigint): ModelEvidence => ({
      ...model,
      records: model.records.map((record) =>
        record.data.modelSequence === 4n
          ? { ...record, transaction: { ...record.transaction, slot, index: undefined } }
          : record,
      ),
    });
    const { connection } = scene.ledger;
    const { slot } = (await connection.getSignaturesForAddress(jobs.first)).at(-1) as {
      slot: number;
    };
    for (const card of [CARD, LATER_CARD]) {
      const change = (model: ModelEvidence) => inOneSlot(model, BigInt(slot));
      expect(await verdictOf(jobs.first, JSON.stringify(card), change)).toBe('holds');
    }
    const other = JSON.stringify({ ...CARD, revision: '3' });
    expect(await verdictOf(jobs.first, other)).toBe('fails');
  });
});
