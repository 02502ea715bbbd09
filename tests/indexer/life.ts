import { Keypair } from '@solana/web3.js';
import {
  authorityAccept,
  authorityPropose,
  claimPay,
  configUpdate,
  creditWithdraw,
  disputeExpire,
  gatewayUpdate,
  gatewayVouch,
  jobDispute,
  limitSet,
  modelRetire,
  modelUpsert,
  pauseSet,
  slashBurn,
  spenderSet,
  stakeUnlock,
  stakeWithdraw,
  treasuryWithdraw,
  workerDeregister,
  workerHost,
  workerSuspend,
  workerUnhost,
  workerUpdate,
} from '../../programs/client/index.ts';
import {
  associatedTokenAddress,
  tokenAccountCreate,
  tokenMintTo,
} from '../../programs/client/token/instructions.ts';
import { registerWorker } from '../../stack/participants.ts';
import { addresses, type Scene } from '../../testing/indexer/scene.ts';
import { UNLIMITED } from '../../testing/kit/setUp.ts';
import { readTokenAccount, tokenAccountClose, tokenTransfer } from '../../testing/ledger/tokens.ts';

const DAY_SECONDS = 86_400;
/** What the treasury keeps at first: 3,000 credits. */
const FLOOR_BASE_UNITS = 30_000_000n;

/** Does on the ledger everything that can be done there, so that every kind of event is emitted. */
export async function liveThrough(scene: Scene): Promise<void> {
  await changeSettings(scene);
  await endJobs(scene);
  await endDisputes(scene);
  await payClaim(scene);
  await retireWorker(scene);
  await completeJobs(scene);
}

async function changeSettings({ service, ledger, send }: Scene): Promise<void> {
  const authority = ledger.payer.publicKey;
  const wallet = service.wallet.publicKey;
  const { id } = service.model;
  const cardHash = new Uint8Array(32).fill(7);
  await send(
    [
      configUpdate({
        authority,
        arbiter: service.arbiter.publicKey,
        treasuryShareBasisPoints: 2_000,
        unstakeCooldownSeconds: 2 * DAY_SECONDS,
        openDisputesMax: 3,
        minimumStakeTokens: 500n,
        slashTokens: 400,
        jobCreditsMax: 50_000n,
        creditAccountCreditsMax: 2_000_000n,
        treasuryFloorCredits: 2_000n,
      }),
      authorityPropose({ authority, pendingAuthority: authority }),
      authorityAccept({ pendingAuthority: authority }),
      pauseSet({ authority, depositsPaused: true, locksPaused: false }),
      gatewayVouch({ authority, gateway: service.gateway, vouched: false }),
      gatewayVouch({ authority, gateway: service.gateway, vouched: true }),
      modelRetire({ authority, modelId: id, retiresAt: 2n ** 33n }),
      modelRetire({ authority, modelId: id, retiresAt: 0n }),
      modelUpsert({ ...service.model, tier: 'standard', label: '8.2B', cardHash, authority }),
    ],
    [],
  );
  await send(
    [
      spenderSet({ wallet, spender: wallet, ...UNLIMITED }),
      spenderSet({ wallet, spender: service.gateway, ...UNLIMITED }),
      limitSet({ wallet, limitPerJobCredits: 500n, limitPerDayCredits: 2n ** 64n - 1n }),
      creditWithdraw({
        ...{ wallet, credits: 10n },
        destination: associatedTokenAddress(service.mints.credit, authority),
      }),
      gatewayUpdate({
        operator: service.gatewayOperator.publicKey,
        signers: [Keypair.generate().publicKey, service.hotSigner.publicKey],
        stopped: false,
      }),
    ],
    [service.wallet, service.gatewayOperator],
  );
}

/** Jobs that end in each of the ways that no dispute follows. */
async function endJobs(scene: Scene): Promise<void> {
  const [settled, failed, refunded, provenLate] = await scene.lock(4);
  if (!settled || !failed || !refunded || !provenLate) throw new Error('four jobs were locked');
  await scene.acknowledge(settled);
  await scene.settle(settled);
  const authority = scene.ledger.payer.publicKey;
  const { credit: mint } = scene.service.mints;
  const destination = associatedTokenAddress(mint, authority);
  const { treasuryVault: account } = addresses;
  await scene.send([tokenMintTo({ mint, account, authority, baseUnits: FLOOR_BASE_UNITS })], []);
  await scene.send([treasuryWithdraw({ authority, destination, baseUnits: 1_000n })], []);
  await scene.acknowledge(failed);
  await scene.acknowledge(failed, 2);
  await scene.fail(failed);
  await scene.acknowledge(refunded);
  await scene.wait(121);
  await scene.refund(refunded);
  await scene.refund(provenLate);
  await scene.wait(60);
  await scene.close(settled);
  await scene.close(refunded);
}

async function endDisputes(scene: Scene): Promise<void> {
  const { send, service } = scene;
  const jobs = await scene.lock(3);
  for (const job of jobs) {
    await scene.acknowledge(job);
    await scene.settle(job);
    await scene.dispute(job);
  }
  const [rejected, upheld, expired] = jobs;
  if (!rejected || !upheld || !expired) throw new Error('three jobs were locked');
  const { creditAccount, wallet } = service;
  const clientHash = new Uint8Array(32).fill(7);
  // The wallet's own hash in place of its controller's.
  const amend = { signer: wallet.publicKey, job: upheld, creditAccount, clientHash };
  await send([jobDispute(amend)], [wallet]);
  await scene.resolve(rejected, 'rejected');
  await scene.resolve(upheld, 'upheld_worker');
  await scene.wait(DAY_SECONDS + 1);
  await send([slashBurn({ stakeMint: service.mints.stake })], []);
  await send([disputeExpire({ job: expired, creditAccount })], []);
  await send([claimPay({ claimant: creditAccount })], []);
}

/** A worker that closed its token account is paid when it has one again. */
async function payClaim(scene: Scene): Promise<void> {
  const { send, service, ledger } = scene;
  const owner = service.workerAuthority.publicKey;
  const mint = service.mints.credit;
  const payout = associatedTokenAddress(mint, owner);
  const payer = ledger.payer.publicKey;
  const elsewhere = associatedTokenAddress(mint, payer);
  const { amount } = await readTokenAccount(ledger.connection, payout);
  const [job, completed] = await scene.lock(2);
  if (!job || !completed) throw new Error('two jobs were locked');
  await scene.acknowledge(job);
  await send(
    [
      tokenTransfer({ source: payout, destination: elsewhere, owner, baseUnits: amount }),
      tokenAccountClose({ account: payout, destination: payer, owner }),
    ],
    [service.workerAuthority],
  );
  await scene.settle(job);
  await scene.complete(completed);
  await send(
    [tokenAccountCreate({ payer, owner, mint }), claimPay({ claimant: service.worker, payout })],
    [],
  );
}

async function retireWorker({ send, service, wait }: Scene): Promise<void> {
  const { operator, mints, model, arbiter } = service;
  const authority = Keypair.generate();
  const worker = await registerWorker(operator, {
    authority,
    proofKey: authority.publicKey,
    endpoint: 'http://127.0.0.1:9',
    modelIds: [model.id],
    stakeTokens: 2_000n,
    mints,
  });
  const identity = { authority: authority.publicKey };
  const payout = associatedTokenAddress(mints.credit, authority.publicKey);
  await send(
    [
      workerUpdate({
        ...{ ...identity, payout, proofKey: addresses.config },
        endpoint: 'http://127.0.0.1:10',
      }),
      workerUnhost({ ...identity, modelId: model.id }),
      workerHost({ ...identity, modelId: model.id }),
      workerSuspend({ arbiter: arbiter.publicKey, worker, suspended: true }),
      stakeUnlock({ ...identity, tokens: 500n }),
    ],
    [authority, arbiter],
  );
  await wait(2 * DAY_SECONDS);
  const destination = associatedTokenAddress(mints.stake, authority.publicKey);
  await send(
    [
      stakeWithdraw({ ...identity, destination }),
      stakeUnlock({ ...identity, tokens: 100n }),
      workerDeregister(identity),
    ],
    [authority],
  );
}

/** Jobs that end in one step: never acknowledged before, acknowledged, and so for an earlier attempt. */
async function completeJobs(scene: Scene): Promise<void> {
  const [fresh, acknowledged, movedOn] = await scene.lock(3);
  if (!fresh || !acknowledged || !movedOn) throw new Error('three jobs were locked');
  await scene.complete(fresh);
  await scene.acknowledge(acknowledged);
  await scene.acknowledge(movedOn);
  await scene.wait(3);
  await scene.complete(acknowledged);
  await scene.complete(movedOn, { attempt: 2 });
  await scene.wait(121);
  await scene.close(fresh);
}
