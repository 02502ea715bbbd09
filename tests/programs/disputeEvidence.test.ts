import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Keypair, PublicKey } from '@solana/web3.js';
import type { DisputeOutcome } from '../../programs/client/generated/vocabulary.ts';
import {
  type DisputeResolveInput,
  disputeResolve,
  evidenceArguments,
  gatewayUpdate,
  PROGRAM_ID,
  proofMessage,
  receiptMessage,
  type SignedMessage,
  sign,
  signHashed,
  workerUpdate,
} from '../../programs/client/index.ts';
import { conflictingProofs, REQUEST } from '../../testing/kit/jobInstructions.ts';
import { expectConserved } from './support/conservation.ts';
import { expectRefusal, pass } from './support/expectations.ts';
import { ANSWER, jobIn, readJob } from './support/jobs.ts';
import { decide, passDisputeWindow } from './support/verdicts.ts';
import { createWorld, hashOf, STAKE_TOKENS, type World } from './support/world.ts';

const sha256 = (bytes: Uint8Array): Buffer => createHash('sha256').update(bytes).digest();

const UPHELD_GATEWAY = 'upheld_gateway';
const UPHELD_WORKER = 'upheld_worker';

let world: World;
let job: PublicKey;
beforeEach(async () => {
  world = await createWorld();
});
afterEach(() => expectConserved(world));

/** A disputed job, at a time in which it can be decided. */
async function openCase(): Promise<void> {
  job = await jobIn(world, 'disputed');
  await passDisputeWindow(world);
}

/** @param changes other arguments than those of the evidence */
const verdictOn = (
  verdict: DisputeOutcome,
  evidence: readonly SignedMessage[],
  changes: Partial<DisputeResolveInput> = {},
) => {
  const { arbiter, creditAccount, worker } = world;
  const named = { arbiter: arbiter.publicKey, job, creditAccount, worker, verdict };
  return disputeResolve({ ...named, ...evidenceArguments(evidence), ...changes });
};
const expectUnproven = async (
  name: Parameters<typeof expectRefusal>[1],
  verdict: DisputeOutcome,
  evidence: readonly SignedMessage[],
  changes?: Partial<DisputeResolveInput>,
) => {
  const before = await readJob(world, job);
  await expectRefusal(world, name, verdictOn(verdict, evidence, changes), [world.arbiter]);
  expect(await readJob(world, job)).toEqual(before);
};
const proofs = async () => conflictingProofs(world, job, await readJob(world, job));
const signedBy = (key: Keypair, message: Uint8Array): SignedMessage => ({
  publicKey: key.publicKey,
  message,
  signature: signHashed(message, key),
});
/** A proof like the recorded one but for these fields. */
const proofWith = async (
  changes: Partial<Parameters<typeof proofMessage>[0]>,
  key = world.proofKey,
) => {
  const { worker, attempt, outputHash, promptTokens, completionTokens } = await readJob(world, job);
  const output = { outputHash, promptTokens, completionTokens, requestCommitment: REQUEST };
  return signedBy(
    key,
    proofMessage({ programId: PROGRAM_ID, job, worker, attempt, ...output, ...changes }),
  );
};
const receiptWith = (
  changes: Partial<Parameters<typeof receiptMessage>[0]> = {},
  key = world.hotSigner,
) => {
  const outputHash = hashOf('another answer');
  return signedBy(key, receiptMessage({ programId: PROGRAM_ID, job, outputHash, ...changes }));
};

describe('a verdict against the worker', () => {
  beforeEach(openCase);

  it('is refused without its two proofs [disputes.evidence]', async () => {
    const evidence = await proofs();
    const none = new Uint8Array(64);
    await expectUnproven('ProofWrongKey', UPHELD_WORKER, []);
    await expectUnproven('SignatureInvalid', UPHELD_WORKER, evidence, { recordedSignature: none });
    await expectUnproven('SignatureInvalid', UPHELD_WORKER, evidence, { signature: none });
  });

  it('is refused for equal proofs, or where the recorded one is not first', async () => {
    const [recorded, other] = await proofs();
    await expectUnproven('ProofWrongMessage', UPHELD_WORKER, [recorded, recorded]);
    await expectUnproven('ProofWrongMessage', UPHELD_WORKER, [other, recorded]);
    await expectUnproven('SignatureInvalid', UPHELD_WORKER, [other, other]);
  });

  it('is refused for arguments that the proofs do not say', async () => {
    const evidence = await proofs();
    for (const changes of [
      { recordedRequestCommitment: hashOf('another request') },
      { outputHash: hashOf('a third answer') },
      { promptTokens: 21 },
      { completionTokens: 301 },
      { requestCommitment: hashOf('another request') },
    ]) {
      await expectUnproven('SignatureInvalid', UPHELD_WORKER, evidence, changes);
    }
  });

  it('is refused where a proof is of another job, worker, attempt or program', async () => {
    const [recorded] = await proofs();
    const another = Keypair.generate().publicKey;
    const outputHash = hashOf('another answer');
    for (const subject of [
      { job: another },
      { worker: another },
      { attempt: 2 },
      { programId: another },
    ]) {
      const stranger = await proofWith({ outputHash, ...subject });
      await expectUnproven('SignatureInvalid', UPHELD_WORKER, [recorded, stranger]);
      await expectUnproven('SignatureInvalid', UPHELD_WORKER, [
        await proofWith(subject),
        await proofWith({ outputHash }),
      ]);
    }
  });

  it('is refused where a proof is by another key than the worker’s', async () => {
    const [recorded, other] = await proofs();
    const forger = Keypair.generate();
    const forged = await proofWith({ outputHash: hashOf('another answer') }, forger);
    await expectUnproven('SignatureInvalid', UPHELD_WORKER, [recorded, forged]);
    await expectUnproven('ProofWrongKey', UPHELD_WORKER, [await proofWith({}, forger), other]);
    await expectUnproven('ProofWrongKey', UPHELD_WORKER, [await proofWith({}, forger), forged]);
  });

  it('is refused where a signature is of the other proof, or not of a sha256', async () => {
    const evidence = await proofs();
    const [recorded, other] = evidence;
    const ofMessage = ({ message }: SignedMessage) => sign(message, world.proofKey);
    for (const changes of [
      { signature: recorded.signature },
      { recordedSignature: other.signature },
      { recordedSignature: other.signature, signature: recorded.signature },
      { recordedSignature: ofMessage(recorded) },
      { signature: ofMessage(other) },
    ]) {
      await expectUnproven('SignatureInvalid', UPHELD_WORKER, evidence, changes);
    }
  });

  it.each<[string, Partial<Parameters<typeof proofMessage>[0]>]>([
    ['prompt’s count', { promptTokens: 21 }],
    ['completion’s count', { completionTokens: 2_000 }],
    ['request', { requestCommitment: hashOf('another request') }],
  ])('is given on two proofs of one text that differ in the %s', async (_, difference) => {
    const evidence = [await proofWith({}), await proofWith(difference)];
    await world.chain.send([verdictOn(UPHELD_WORKER, evidence)], [world.arbiter]);
    expect((await readJob(world, job)).outcome).toBe(UPHELD_WORKER);
    const [{ data } = { data: {} }] = world.chain.lastEvents();
    const messages = Buffer.concat(evidence.map(({ message }) => message));
    expect(data).toMatchObject({ evidenceHash: new Uint8Array(sha256(messages)) });
  });

  it('is not given on receipts, nor the other one on proofs', async () => {
    for (const signer of [world.proofKey, world.hotSigner]) {
      const { outputHash, signature } = evidenceArguments([receiptWith({}, signer)]);
      const receipts = {
        key: signer.publicKey,
        recordedSignature: signature,
        signature,
        outputHash,
      };
      const isWorkers = signer === world.proofKey;
      const refusal = isWorkers ? 'SignatureInvalid' : 'ProofWrongKey';
      await expectUnproven(refusal, UPHELD_WORKER, [], receipts);
      const byOneKey = [await proofWith({}, signer), await proofWith({ outputHash }, signer)];
      const otherRefusal = isWorkers ? 'ProofWrongKey' : 'SignatureInvalid';
      await expectUnproven(otherRefusal, UPHELD_GATEWAY, byOneKey);
    }
  });
});

describe('an argument that its verdict does not need', () => {
  const GARBAGE = new Uint8Array(64).fill(7);
  const unneeded = {
    recordedRequestCommitment: GARBAGE.slice(32),
    recordedSignature: GARBAGE,
    promptTokens: 2 ** 32 - 1,
    completionTokens: 2 ** 32 - 1,
    requestCommitment: GARBAGE.slice(32),
  };
  beforeEach(openCase);

  it('is not looked at where a dispute is rejected', async () => {
    const key = Keypair.generate().publicKey;
    const all = { ...unneeded, key, outputHash: ANSWER, signature: GARBAGE };
    await world.chain.send([verdictOn('rejected', [], all)], [world.arbiter]);
    const [{ data } = { data: {} }] = world.chain.lastEvents();
    expect(data).toMatchObject({ verdict: 'rejected', evidenceHash: new Uint8Array(32) });
  });

  it('is not looked at beside a receipt', async () => {
    const receipt = receiptWith();
    await world.chain.send([verdictOn(UPHELD_GATEWAY, [receipt], unneeded)], [world.arbiter]);
    const [{ data } = { data: {} }] = world.chain.lastEvents();
    expect(data).toMatchObject({ evidenceHash: new Uint8Array(sha256(receipt.message)) });
  });
});

describe('a proof key that was changed', () => {
  const rotate = async (key: Keypair) => {
    const { chain, workerAuthority } = world;
    const { payout } = world;
    const change = { payout, endpoint: 'https://worker.example', proofKey: key.publicKey };
    await chain.send(
      [workerUpdate({ authority: workerAuthority.publicKey, ...change })],
      [workerAuthority],
    );
  };

  it('still convicts for what was proven before', async () => {
    await openCase();
    await rotate(Keypair.generate());
    await world.chain.send([verdictOn(UPHELD_WORKER, await proofs())], [world.arbiter]);
    expect(await world.read('Worker', world.worker)).toMatchObject({ stakeTokens: 500n });
  });

  it('does not convict for what the new one proved: it may have leaked', async () => {
    const leaked = world.proofKey;
    const fresh = Keypair.generate();
    await rotate(fresh);
    await pass(world, 1n);
    world = { ...world, proofKey: fresh };
    await openCase();
    const outputHash = hashOf('another answer');
    const forged = [await proofWith({}, leaked), await proofWith({ outputHash }, leaked)];
    await expectUnproven('ProofWrongKey', UPHELD_WORKER, forged);
    await world.chain.send([verdictOn(UPHELD_WORKER, await proofs())], [world.arbiter]);
  });

  it('is not replaced by a key that convicts for jobs of before', async () => {
    await openCase();
    const old = world.proofKey;
    const fresh = Keypair.generate();
    await rotate(fresh);
    const outputHash = hashOf('another answer');
    const byFresh = [await proofWith({}, fresh), await proofWith({ outputHash }, fresh)];
    await expectUnproven('ProofWrongKey', UPHELD_WORKER, byFresh);
    const mixed = [await proofWith({}, old), await proofWith({ outputHash }, fresh)];
    await expectUnproven('SignatureInvalid', UPHELD_WORKER, mixed);
  });
});

describe('a verdict against the gateway', () => {
  beforeEach(openCase);

  it('is refused without a receipt [disputes.evidence]', async () => {
    const outputHash = hashOf('another answer');
    for (const key of [PublicKey.default, world.hotSigner.publicKey]) {
      const refusal = key === PublicKey.default ? 'ProofWrongKey' : 'SignatureInvalid';
      await expectUnproven(refusal, UPHELD_GATEWAY, [], { key, outputHash });
    }
  });

  it('is refused for a receipt of the proven text, another job or program', async () => {
    const another = Keypair.generate().publicKey;
    const proven = receiptWith({ outputHash: ANSWER });
    await expectUnproven('ProofWrongMessage', UPHELD_GATEWAY, [proven]);
    for (const changes of [{ job: another }, { programId: another }]) {
      await expectUnproven('SignatureInvalid', UPHELD_GATEWAY, [receiptWith(changes)]);
    }
  });

  it('is refused for a receipt of another hash, or not of a sha256', async () => {
    const receipt = receiptWith();
    const outputHash = hashOf('a third answer');
    await expectUnproven('SignatureInvalid', UPHELD_GATEWAY, [receipt], { outputHash });
    const signature = sign(receipt.message, world.hotSigner);
    await expectUnproven('SignatureInvalid', UPHELD_GATEWAY, [receipt], { signature });
  });

  it('is refused for a receipt by a key that never was its signer', async () => {
    const { arbiter, wallet, authority, workerAuthority, proofKey, operator, gateway } = world;
    for (const key of [arbiter, wallet, authority, workerAuthority, proofKey, operator]) {
      await expectUnproven('ProofWrongKey', UPHELD_GATEWAY, [receiptWith({}, key)], { gateway });
    }
  });

  it('is given on the settling key’s receipt, also when it is removed', async () => {
    const { chain, operator } = world;
    const next = Keypair.generate();
    const change = { operator: operator.publicKey, signers: [next.publicKey], stopped: false };
    await chain.send([gatewayUpdate(change)], [operator]);
    await chain.send([verdictOn(UPHELD_GATEWAY, [receiptWith()])], [world.arbiter]);
    expect((await readJob(world, job)).outcome).toBe(UPHELD_GATEWAY);
  });

  it('is given on another current signer’s receipt if its gateway is passed', async () => {
    const { chain, operator, hotSigner, gateway } = world;
    const second = Keypair.generate();
    const signers = [hotSigner.publicKey, second.publicKey];
    await chain.send(
      [gatewayUpdate({ operator: operator.publicKey, signers, stopped: false })],
      [operator],
    );
    const receipt = receiptWith({}, second);
    await expectUnproven('ProofWrongKey', UPHELD_GATEWAY, [receipt]);
    await chain.send([verdictOn(UPHELD_GATEWAY, [receipt], { gateway })], [world.arbiter]);
    expect((await readJob(world, job)).outcome).toBe(UPHELD_GATEWAY);
  });

  it('takes nothing from the worker', async () => {
    await decide(world, job, UPHELD_GATEWAY);
    expect(await world.read('Worker', world.worker)).toMatchObject({ stakeTokens: STAKE_TOKENS });
  });
});
