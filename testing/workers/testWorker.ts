import { Keypair, type PublicKey } from '@solana/web3.js';
import type { Rpc } from '../../programs/client/rpc/rpc.ts';
import { associatedTokenAddress } from '../../programs/client/token/instructions.ts';
import { registerWorker } from '../../stack/participants.ts';
import type { Engine } from '../../worker/engine/engine.ts';
import type { Service } from '../ledger/ledger.ts';
import {
  type MisbehavingWorker,
  startMisbehavingWorker,
  type WorkerMode,
} from './misbehavingWorker.ts';

/** One with a mode for each job, an engine of its own, or few slots. */
interface WorkerPlan {
  mode?: WorkerMode | (() => WorkerMode);
  engine?: Engine;
  capacity?: number;
}

/** A worker's behaviour, or the engine of an honest one. */
export type WorkerBehaviour = WorkerMode | Engine | WorkerPlan;

/** A running worker: registered, staked, and hosting the service's model. */
export interface TestWorker extends Omit<MisbehavingWorker, 'address'> {
  address: string;
  /** The key that registered it. */
  authority: Keypair;
  proofKey: PublicKey;
  /** Its secret half: for a worker that steals. */
  proofKeypair: Keypair;
  /** The token account that settlements pay. */
  payout: PublicKey;
  /** The number of jobs that it received. */
  jobsAsked(): number;
  /** The number of jobs that it runs at the moment. */
  inFlight(): Promise<number>;
}

const CAPACITY = 256;

export async function startTestWorker(options: {
  behaviour: WorkerBehaviour;
  rpc: Rpc;
  opened: Service;
}): Promise<TestWorker> {
  const { behaviour, rpc, opened } = options;
  const authority = Keypair.generate();
  const proofKey = Keypair.generate();
  const worker = await startMisbehavingWorker({
    mode: 'honest',
    capacity: CAPACITY,
    ...planOf(behaviour),
    rpc,
    authority: authority.publicKey,
    proofKey,
    terms: { gateways: [opened.gateway], shareMinBasisPoints: 0 },
  });
  await registerWorker(opened.operator, {
    authority,
    proofKey: proofKey.publicKey,
    endpoint: worker.url,
    modelIds: [opened.model.id],
    stakeTokens: 1_000n,
    mints: opened.mints,
  });
  return {
    ...worker,
    address: worker.address.toBase58(),
    authority,
    proofKey: proofKey.publicKey,
    proofKeypair: proofKey,
    payout: associatedTokenAddress(opened.mints.credit, authority.publicKey),
    async inFlight() {
      const health = await (await fetch(`${worker.url}/health`)).json();
      return (health as { in_flight: number }).in_flight;
    },
    jobsAsked: () => worker.requests.filter(({ path }) => path === '/jobs').length,
  };
}

function planOf(behaviour: WorkerBehaviour): WorkerPlan {
  if (typeof behaviour === 'string') return { mode: behaviour };
  return 'generate' in behaviour ? { engine: behaviour } : behaviour;
}
