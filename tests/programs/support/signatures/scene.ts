import { PublicKey, type TransactionInstruction } from '@solana/web3.js';
import { PROGRAM_ID, proofMessage } from '../../../../programs/client/index.ts';
import { concatBytes } from '../../../../programs/client/platform/bytes.ts';
import type { Chain, ChainAccount } from '../../../../testing/kit/chain.ts';
import { complete, prove, REQUEST } from '../../../../testing/kit/jobInstructions.ts';
import { ANSWER, jobIn } from '../jobs.ts';
import { createWorld, hashOf, type World } from '../world.ts';
import type { Signed } from './signers.ts';

/** The instructions that take a worker's signature. */
export type Asked = 'prove' | 'complete';

/** A processing job, whose worker may have any proof key. */
export interface Scene {
  readonly world: World;
  readonly job: { readonly address: PublicKey; readonly account: ChainAccount };
  /** What the worker signs the sha256 of. */
  messageOf(statement: Uint8Array): Uint8Array;
  /** The Worker account with another proof key. */
  workerWith(proofKey: Uint8Array): ChainAccount;
  instruction(
    asked: Asked,
    signed: Pick<Signed, 'commitment' | 'signature'>,
  ): TransactionInstruction;
}

/** The same in every run, so that a seed repeats the signatures. Job accounts may be anywhere. */
const JOB = new PublicKey(hashOf('a job'));

export async function openScene(chain?: Chain): Promise<Scene> {
  const world = await createWorld({}, chain);
  const read = async (address: PublicKey): Promise<ChainAccount> => {
    const account = await world.chain.account(address);
    if (account === null) throw new Error(`there is no ${address}`);
    return account;
  };
  const account = await read(await jobIn(world, 'processing'));
  world.chain.setAccount(JOB, account);
  const worker = await read(world.worker);
  const keyAt = Buffer.from(worker.data).indexOf(world.proofKey.publicKey.toBytes());

  return {
    world,
    job: { address: JOB, account },
    messageOf: (statement) =>
      proofMessage({
        ...{ programId: PROGRAM_ID, job: JOB, worker: world.worker, attempt: 1 },
        ...{ outputHash: ANSWER, promptTokens: 20, completionTokens: 300, statement },
      }),
    workerWith(proofKey) {
      const data = Uint8Array.from(worker.data);
      data.set(proofKey, keyAt);
      return { ...worker, data };
    },
    instruction(asked, { commitment, signature }) {
      const instruction = { prove, complete }[asked](world, JOB, { statement: REQUEST });
      const tail = concatBytes(commitment, signature);
      const data = Buffer.concat([instruction.data.subarray(0, -tail.length), tail]);
      return Object.assign(instruction, { data });
    },
  };
}
