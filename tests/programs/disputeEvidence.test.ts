import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import type { SignedMessage } from '../../programs/client/index.ts';
import { workerUpdate } from '../../programs/client/index.ts';
import { expectConserved } from './support/conservation.ts';
import { OTHER_HASH, openCase } from './support/evidence.ts';
import { expectRefusal, pass } from './support/expectations.ts';
import { freshWorld } from './support/freshWorld.ts';
import { ANSWER, dispute, jobIn, prove, readJob, settle } from './support/jobs.ts';
import { updateGateway } from './support/parties.ts';
import { passDisputeWindow } from './support/verdicts.ts';
import { hashOf, STAKE_TOKENS, send, type World } from './support/world.ts';

let world: World;
beforeEach(async () => {
  world = await freshWorld();
});
afterEach(() => expectConserved(world));

/** The verdict was given, and its event names the sha256 of these messages. */
const expectEvidence = (...evidence: SignedMessage[]) => {
  const messages = Buffer.concat(evidence.map(({ message }) => message));
  const hash = createHash('sha256').update(messages).digest();
  const evidenceHash = new Uint8Array(evidence.length > 0 ? hash : Buffer.alloc(32));
  expect(world.chain.lastEvents()).toMatchObject([{ data: { evidenceHash } }]);
};

const OTHER_STATEMENT = hashOf('another statement');

// On what none is given: support/refusals/evidence.ts.
describe('a verdict [disputes.evidence]', () => {
  it.each([
    ['prompt’s count', { promptTokens: 21 }],
    ['completion’s count', { completionTokens: 2_000 }],
    ['statement', { statement: OTHER_STATEMENT }],
  ])('is given on two proofs of one text that differ in the %s', async (_, difference) => {
    const { verdictOn, proofWith } = await openCase(world);
    const evidence = [proofWith({}), proofWith(difference)] as const;
    await send(world, verdictOn('upheld_worker', evidence));
    expectEvidence(...evidence);
  });

  const GARBAGE = new Uint8Array(64).fill(7);
  const unneeded = {
    recordedStatement: GARBAGE.slice(32),
    recordedSignature: GARBAGE,
    promptTokens: 2 ** 32 - 1,
    completionTokens: 2 ** 32 - 1,
  };

  it('looks at no argument where a dispute is rejected', async () => {
    const { verdictOn } = await openCase(world);
    const key = Keypair.generate().publicKey;
    const statement = GARBAGE.slice(32);
    const all = { ...unneeded, key, outputHash: ANSWER, statement, signature: GARBAGE };
    await send(world, verdictOn('rejected', [], all));
    expectEvidence();
  });

  it('looks at no argument beside a receipt, and takes nothing from the worker', async () => {
    const { verdictOn, receiptWith } = await openCase(world);
    const receipt = receiptWith();
    await send(world, verdictOn('upheld_gateway', [receipt], unneeded));
    expectEvidence(receipt);
    expect(await world.read('Worker', world.worker)).toMatchObject({ stakeTokens: STAKE_TOKENS });
  });

  it('is given on a receipt of another statement, with the recorded proof', async () => {
    const { verdictOn, receiptWith, recorded } = await openCase(world);
    const receipt = receiptWith({ outputHash: ANSWER, statement: OTHER_STATEMENT });
    await send(world, verdictOn('upheld_gateway', [receipt, recorded]));
    expectEvidence(receipt, recorded);
    expect(await world.read('Worker', world.worker)).toMatchObject({ stakeTokens: STAKE_TOKENS });
  });

  it('is given on the settling key’s receipt, also when it is removed', async () => {
    const { verdictOn, receiptWith } = await openCase(world);
    await updateGateway(world, { signers: [world.stranger.publicKey] });
    await send(world, verdictOn('upheld_gateway', [receiptWith()]));
  });

  it('is given on another current signer’s receipt if its gateway is passed', async () => {
    const { hotSigner, stranger, gateway } = world;
    const { verdictOn, receiptWith } = await openCase(world);
    await updateGateway(world, { signers: [hotSigner.publicKey, stranger.publicKey] });
    const receipt = receiptWith({}, stranger);
    const alone = verdictOn('upheld_gateway', [receipt]);
    await expectRefusal(world, 'ProofWrongKey', alone);
    await send(world, verdictOn('upheld_gateway', [receipt], { gateway }));
  });
});

describe('a proof key that was changed', () => {
  it.each(
    [-1n, 0n, 1n].flatMap((seconds) => [
      { seconds, verdict: 'upheld_worker' as const },
      { seconds, verdict: 'upheld_gateway' as const },
    ]),
  )(
    'shows what it proved until then: $verdict, $seconds s from the change',
    async ({ seconds, verdict }) => {
      const { workerAuthority, payout, proofKey: old, stranger: fresh } = world;
      const change = workerUpdate({
        authority: workerAuthority.publicKey,
        payout,
        endpoint: 'https://worker.example',
        proofKey: fresh.publicKey,
      });
      const isProvenAfter = seconds > 0n;
      const [own, other] = isProvenAfter ? [fresh, old] : [old, fresh];
      const job = await jobIn(world, 'processing');
      const proof = prove(world, job, { key: own });
      await send(world, isProvenAfter ? change : proof);
      await pass(world, isProvenAfter ? seconds : -seconds);
      await send(world, isProvenAfter ? proof : change);
      await send(world, settle(world, job), dispute(world, job));
      await passDisputeWindow(world);
      const { proofWith, receiptWith, verdictOn } = await openCase(world, job);
      const by = (first: Keypair, second: Keypair) => {
        const proofs = [proofWith({}, first), proofWith({ outputHash: OTHER_HASH }, second)];
        return verdictOn('upheld_worker', proofs);
      };
      const ofGateway = (key: Keypair) => {
        const receipt = receiptWith({ outputHash: ANSWER, statement: OTHER_STATEMENT });
        return verdictOn('upheld_gateway', [receipt, proofWith({}, key)]);
      };
      await expectRefusal(world, 'SignatureInvalid', by(own, other));
      // In the second of the change both keys may have proven it.
      if (seconds !== 0n) {
        await expectRefusal(world, 'ProofWrongKey', by(other, other));
        await expectRefusal(world, 'SignatureInvalid', ofGateway(other));
      }
      const isWorkers = verdict === 'upheld_worker';
      const either = seconds === 0n ? other : own;
      await send(world, isWorkers ? by(own, own) : ofGateway(either));
      expect((await readJob(world, job)).outcome).toBe(verdict);
    },
  );
});
