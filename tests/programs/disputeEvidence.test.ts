import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Keypair, type PublicKey, TransactionInstruction } from '@solana/web3.js';
import type { DisputeOutcome } from '../../programs/client/generated/vocabulary.ts';
import {
  gatewayOpen,
  gatewayUpdate,
  gatewayVouch,
  PROGRAM_ID,
  proofMessage,
  receiptMessage,
  type SignedMessage,
  sign,
  spenderSet,
  verdictInstructions,
  workerUpdate,
} from '../../programs/client/index.ts';
import { conflictingProofs, otherReceipt } from '../../testing/kit/jobInstructions.ts';
import { openWorker, UNLIMITED } from '../../testing/kit/setUp.ts';
import { expectConserved } from './support/conservation.ts';
import { expectRefusal, pass } from './support/expectations.ts';
import { ANSWER, jobIn, readJob } from './support/jobs.ts';
import { decide, passDisputeWindow } from './support/verdicts.ts';
import {
  addresses,
  createWorld,
  hashOf,
  MODEL,
  STAKE_TOKENS,
  type World,
} from './support/world.ts';

const UPHELD_GATEWAY = 'upheld_gateway';
const UPHELD_WORKER = 'upheld_worker';

let world: World;
let parties: { creditAccounts: PublicKey[]; workers: PublicKey[] };
let job: PublicKey;
beforeEach(async () => {
  world = await createWorld();
  parties = { creditAccounts: [world.creditAccount], workers: [world.worker] };
});
afterEach(() => expectConserved(world, parties));

/** A disputed job, at a time in which it can be decided. */
async function openCase(): Promise<void> {
  job = await jobIn(world, 'disputed');
  await passDisputeWindow(world);
}

const verdictOn = (
  verdict: DisputeOutcome,
  evidence: readonly SignedMessage[],
  gateway?: PublicKey,
) => {
  const { arbiter, creditAccount, worker } = world;
  const named = { arbiter: arbiter.publicKey, gateway, job, creditAccount, worker, verdict };
  return verdictInstructions(evidence, named);
};
const expectUnproven = async (
  name: Parameters<typeof expectRefusal>[1],
  verdict: DisputeOutcome,
  evidence: readonly SignedMessage[],
  gateway?: PublicKey,
) => {
  const before = await readJob(world, job);
  await expectRefusal(world, name, verdictOn(verdict, evidence, gateway), [world.arbiter]);
  expect(await readJob(world, job)).toEqual(before);
};
const proofs = async () => conflictingProofs(world, job, await readJob(world, job));
const signedBy = (key: Keypair, message: Uint8Array): SignedMessage => ({
  publicKey: key.publicKey,
  message,
  signature: sign(message, key),
});
/** A proof like the recorded one but for these fields. */
const proofWith = async (
  changes: Partial<Parameters<typeof proofMessage>[0]>,
  key = world.proofKey,
) => {
  const { worker, attempt, outputHash, promptTokens, completionTokens } = await readJob(world, job);
  const output = { outputHash, promptTokens, completionTokens };
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
    const [recorded, other] = await proofs();
    await expectUnproven('ProofMissing', UPHELD_WORKER, []);
    await expectUnproven('ProofMissing', UPHELD_WORKER, [other]);
    await expectUnproven('ProofMissing', UPHELD_WORKER, [recorded]);
  });

  it('is refused for equal proofs, or where the recorded one is not first', async () => {
    const [recorded, other] = await proofs();
    await expectUnproven('ProofWrongMessage', UPHELD_WORKER, [recorded, recorded]);
    await expectUnproven('ProofWrongMessage', UPHELD_WORKER, [other, recorded]);
    await expectUnproven('ProofWrongMessage', UPHELD_WORKER, [other, other]);
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
      await expectUnproven('ProofWrongMessage', UPHELD_WORKER, [recorded, stranger]);
      await expectUnproven('ProofWrongMessage', UPHELD_WORKER, [
        await proofWith(subject),
        await proofWith({ outputHash }),
      ]);
    }
  });

  it('is refused where a proof is by another key than the worker’s', async () => {
    const [recorded, other] = await proofs();
    const forger = Keypair.generate();
    const forged = await proofWith({ outputHash: hashOf('another answer') }, forger);
    await expectUnproven('ProofWrongKey', UPHELD_WORKER, [recorded, forged]);
    await expectUnproven('ProofWrongKey', UPHELD_WORKER, [await proofWith({}, forger), other]);
    await expectUnproven('ProofWrongKey', UPHELD_WORKER, [await proofWith({}, forger), forged]);
  });

  it('is refused where a signature is not the key’s', async () => {
    const [recorded, other] = await proofs();
    const forged = { ...other, signature: recorded.signature };
    const instructions = verdictOn(UPHELD_WORKER, [recorded, forged]);
    await expect(world.chain.send(instructions, [world.arbiter])).rejects.toThrow();
  });

  it('is refused where an ed25519 instruction points out of itself', async () => {
    const instructions = verdictOn(UPHELD_WORKER, await proofs());
    const [, second] = instructions;
    // Where signature, key and message say in which instruction they are; 0xffff is their own.
    for (const at of [4, 8, 14]) second?.data.writeUInt16LE(0, at);
    await expectRefusal(world, 'ProofMalformed', instructions, [world.arbiter]);
  });

  it('is refused for an instruction between the proofs and the verdict', async () => {
    const [first, second, verdict] = verdictOn(UPHELD_WORKER, await proofs());
    if (!first || !second || !verdict) throw new Error('three instructions were expected');
    const empty = new TransactionInstruction({
      programId: first.programId,
      keys: [],
      data: Buffer.from([0, 0]),
    });
    const apart = [first, second, empty, verdict];
    await expectRefusal(world, 'ProofMalformed', apart, [world.arbiter]);
  });

  it('is given on two proofs of one text whose token counts differ', async () => {
    const [recorded] = await proofs();
    const dearer = await proofWith({ completionTokens: 2_000 });
    await world.chain.send(verdictOn(UPHELD_WORKER, [recorded, dearer]), [world.arbiter]);
    expect((await readJob(world, job)).outcome).toBe(UPHELD_WORKER);
  });

  it('is not given on receipts, nor the other one on proofs', async () => {
    const receipt = otherReceipt(world, job);
    await expectUnproven('ProofMalformed', UPHELD_WORKER, [receipt, receipt]);
    await expectUnproven('ProofMalformed', UPHELD_GATEWAY, await proofs());
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
    await world.chain.send(verdictOn(UPHELD_WORKER, await proofs()), [world.arbiter]);
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
    await world.chain.send(verdictOn(UPHELD_WORKER, await proofs()), [world.arbiter]);
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
    await expectUnproven('ProofWrongKey', UPHELD_WORKER, mixed);
  });
});

describe('a verdict against the gateway', () => {
  beforeEach(openCase);

  it('is refused without a receipt [disputes.evidence]', async () => {
    await expectUnproven('ProofMissing', UPHELD_GATEWAY, []);
  });

  it('is refused for a receipt of the proven text, another job or program', async () => {
    const another = Keypair.generate().publicKey;
    for (const changes of [{ outputHash: ANSWER }, { job: another }, { programId: another }]) {
      await expectUnproven('ProofWrongMessage', UPHELD_GATEWAY, [receiptWith(changes)]);
    }
  });

  it('is refused for a receipt by a key that never was its signer', async () => {
    const { arbiter, wallet, authority, workerAuthority, proofKey, operator, gateway } = world;
    for (const key of [arbiter, wallet, authority, workerAuthority, proofKey, operator]) {
      await expectUnproven('ProofWrongKey', UPHELD_GATEWAY, [receiptWith({}, key)], gateway);
    }
  });

  it('is given on the settling key’s receipt, also when it is removed', async () => {
    const { chain, operator } = world;
    const next = Keypair.generate();
    const change = { operator: operator.publicKey, signers: [next.publicKey], stopped: false };
    await chain.send([gatewayUpdate(change)], [operator]);
    await chain.send(verdictOn(UPHELD_GATEWAY, [receiptWith()]), [world.arbiter]);
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
    await chain.send(verdictOn(UPHELD_GATEWAY, [receipt], gateway), [world.arbiter]);
    expect((await readJob(world, job)).outcome).toBe(UPHELD_GATEWAY);
  });

  it('takes nothing from the worker', async () => {
    await decide(world, job, UPHELD_GATEWAY);
    expect(await world.read('Worker', world.worker)).toMatchObject({ stakeTokens: STAKE_TOKENS });
  });
});

describe('a job of a gateway without the authority’s voucher', () => {
  it('is repaid the treasury’s own share alone', async () => {
    const { chain, authority, gateway } = world;
    await chain.send(
      [gatewayVouch({ authority: authority.publicKey, gateway, vouched: false })],
      [authority],
    );
    await openCase();
    expect(await world.read('Treasury', addresses.treasury)).toMatchObject({
      disputedExposureBaseUnits: 10_000n,
    });
    await decide(world, job, UPHELD_GATEWAY);
    expect(await world.read('CreditAccount', world.creditAccount)).toMatchObject({
      owedCredits: 1n,
    });
    expect(await world.read('Treasury', addresses.treasury)).toMatchObject({
      disputedExposureBaseUnits: 0n,
      owedBaseUnits: 10_000n,
    });
    expect(await readJob(world, job)).toMatchObject({ status: 'refunded', chargedCredits: 7n });
  });

  it('is judged by what the gateway was at the lock, not at the verdict', async () => {
    const { chain, authority, gateway } = world;
    const vouch = (vouched: boolean) =>
      chain.send([gatewayVouch({ authority: authority.publicKey, gateway, vouched })], [authority]);
    await openCase();
    await vouch(false);
    await decide(world, job, UPHELD_GATEWAY);
    expect(await world.read('CreditAccount', world.creditAccount)).toMatchObject({
      owedCredits: 8n,
    });
    await openCase();
    await vouch(true);
    await decide(world, job, UPHELD_GATEWAY);
    expect(await world.read('CreditAccount', world.creditAccount)).toMatchObject({
      owedCredits: 9n,
    });
  });

  it('gains nothing for an arbiter with a wallet, worker and gateway', async () => {
    const { wallet, walletTokens, stakeMint, chain, hotSigner } = world;
    const party = {
      authority: wallet,
      proofKey: wallet,
      payout: walletTokens,
      address: addresses.worker(wallet.publicKey),
      stakeTokens: world.token(stakeMint, wallet.publicKey, 10n ** 12n),
    };
    await openWorker(world, party, { stakeTokens: STAKE_TOKENS, modelIds: [MODEL.id] });
    parties.workers.push(party.address);
    const gateway = addresses.gateway(wallet.publicKey);
    const opened = { payer: wallet.publicKey, operator: wallet.publicKey };
    const trusted = { wallet: wallet.publicKey, spender: gateway, ...UNLIMITED };
    await chain.send(
      [gatewayOpen({ ...opened, signers: [hotSigner.publicKey] }), spenderSet(trusted)],
      [wallet],
    );
    const { address: worker } = party;
    world = { ...world, gateway, worker, proofKey: wallet, payout: walletTokens };
    const treasuryBaseUnits = async () =>
      (await chain.tokens(addresses.treasuryVault)) -
      (await world.read('Treasury', addresses.treasury)).owedBaseUnits;
    const before = await treasuryBaseUnits();
    const verdicts = [...Array<DisputeOutcome>(10).fill(UPHELD_GATEWAY), UPHELD_WORKER] as const;
    for (const verdict of verdicts) {
      await openCase();
      await decide(world, job, verdict);
    }
    // Each charge of 80,000 base units brings the treasury 12,000; a whole credit of it goes back.
    expect(await treasuryBaseUnits()).toBe(before + 11n * 2_000n);
    expect(await world.read('CreditAccount', world.creditAccount)).toMatchObject({
      owedCredits: 11n,
    });
  });
});
