import { Keypair, type PublicKey } from '@solana/web3.js';
import type { Rpc } from '../../programs/client/rpc/rpc.ts';
import { associatedTokenAddress } from '../../programs/client/token/instructions.ts';
import { registerWorker } from '../../stack/participants.ts';
import type { Engine } from '../../worker/engine/engine.ts';
import type { Service } from '../ledger/ledger.ts';
import {
  type CapturedRequest,
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
export interface TestWorker {
  address: string;
  /** The key that registered it. */
  authority: Keypair;
  proofKey: PublicKey;
  /** Its secret half: for a worker that steals. */
  proofKeypair: Keypair;
  /** The token account that settlements pay. */
  payout: PublicKey;
  url: string;
  /** Every POST that it received, in order. */
  requests: readonly CapturedRequest[];
  /** Changes the behaviour for later jobs. */
  setMode(mode: WorkerMode): void;
  /** Cuts every connection; the worker goes on to take jobs. */
  drop(): void;
  /** The number of jobs that it received. */
  jobsAsked(): number;
  /** The number of jobs that it runs at the moment. */
  inFlight(): Promise<number>;
  close(): Promise<void>;
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
  const { url, address, requests, setMode, drop, close } = await startMisbehavingWorker({
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
    endpoint: url,
    modelIds: [opened.model.id],
    stakeTokens: 1_000n,
    mints: opened.mints,
  });
  return {
    address: address.toBase58(),
    url,
    requests,
    authority,
    proofKey: proofKey.publicKey,
    proofKeypair: proofKey,
    payout: associatedTokenAddress(opened.mints.credit, authority.publicKey),
    setMode,
    drop,
    async inFlight() {
      const health = await (await fetch(`${url}/health`)).json();
      return (health as { in_flight: number }).in_flight;
    },
    jobsAsked: () => requests.filter(({ path }) => path === '/jobs').length,
    close,
  };
}

function planOf(behaviour: WorkerBehaviour): WorkerPlan {
  if (typeof behaviour === 'string') return { mode: behaviour };
  return 'generate' in behaviour ? { engine: behaviour } : behaviour;
}
