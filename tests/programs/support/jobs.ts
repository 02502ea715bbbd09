import type { PublicKey } from '@solana/web3.js';
import type { Job } from '../../../programs/client/index.ts';
import type { World } from './world.ts';

export {
  ANSWER,
  acknowledge,
  complete,
  composeLock,
  dispute,
  fail,
  jobIn,
  type LockChoice,
  lockJob,
  type Proven,
  prove,
  REQUEST,
  refund,
  settle,
} from '../../../testing/kit/jobInstructions.ts';

export const readJob = (world: World, job: PublicKey): Promise<Job> => world.read('Job', job);
