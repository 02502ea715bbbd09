import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Keypair, type TransactionInstruction } from '@solana/web3.js';
import type { LedgerContext } from '../../api/ledger/context.ts';
import type { LockedJob } from '../../api/ledger/job.ts';
import { createAcknowledgements } from '../../api/ledger/settleOnLedger.ts';
import { createLogger } from '../../common/logger.ts';
import { systemTime } from '../../common/wait.ts';
import { createAddresses } from '../../programs/client/addresses.ts';
import { jobAcknowledge } from '../../programs/client/instructions.ts';
import { publicKeyOf } from '../../programs/client/keys.ts';
import { createBatcher } from '../../programs/client/sender/batcher.ts';
import {
  LedgerUnavailableError,
  type Sender,
  type SendResult,
} from '../../programs/client/sender/index.ts';
import { createRoom } from '../../programs/client/sender/transaction.ts';

const LINGER_MS = 500;
const LANDED: SendResult = { status: 'landed', signature: 'sent', slot: 1 };
const address = () => Keypair.generate().publicKey;
const job = { id: 'job', address: address() } as LockedJob;
const [worker, other] = [String(address()), String(address())];

beforeEach(() => void jest.useFakeTimers({ doNotFake: ['setImmediate'] }));
afterEach(() => void jest.useRealTimers());

/** Acknowledgements as the API sends them, of whose transactions the ledger says this. */
function createScene(answer: () => Promise<SendResult>) {
  const sent: TransactionInstruction[] = [];
  const sender: Partial<Sender> = {
    send({ instructions }) {
      const of = typeof instructions === 'function' ? instructions(address()) : instructions;
      sent.push(...of);
      return answer();
    },
    room: () => createRoom('legacy', address()),
  };
  const context = {
    addresses: createAddresses(),
    acknowledgements: createBatcher({
      ...{ sender: sender as Sender, itemsMax: 8 },
      ...{ lingerMs: LINGER_MS, idleLingerMs: LINGER_MS },
    }),
    gateway: address(),
    logger: createLogger({ name: 'test', level: 'silent' }),
    signer: Keypair.generate(),
    time: systemTime,
  } as unknown as LedgerContext;
  /** The instruction that records this worker's attempt. */
  const acknowledging = (of: string, attempt: number) =>
    jobAcknowledge({
      programId: context.addresses.programId,
      signer: context.signer.publicKey,
      gateway: context.gateway,
      ...{ job: job.address, worker: publicKeyOf(of), attempt },
    });
  return { ...createAcknowledgements(context), sent, acknowledging };
}

async function linger(): Promise<void> {
  await jest.advanceTimersByTimeAsync(LINGER_MS);
  await turn();
}

const lost = async () => {
  throw new LedgerUnavailableError('away', { signature: null });
};
const landed = async () => LANDED;
type Scene = ReturnType<typeof createScene>;

describe('the acknowledgement of a worker', () => {
  it.each<[string, () => Promise<SendResult>, number]>([
    ['and not again with a failure once it is there', landed, 0],
    ['and with a failure too while it is not confirmed', () => new Promise(() => undefined), 1],
    ['and with a failure too where it did not reach the ledger', lost, 1],
  ])('is sent half a second later, %s', async (_how, answer, again) => {
    const { announce, collect, sent, acknowledging } = createScene(answer);
    announce(job, worker, 1);
    await linger();
    expect(sent).toEqual([acknowledging(worker, 1)]);
    expect(collect(job)).toEqual(again ? acknowledging(worker, 1) : undefined);
  });

  it.each<[string, (scene: Scene) => unknown]>([
    ['where a settlement, which contains it, comes sooner', ({ withdraw }) => withdraw(job)],
    [
      'where it travels with a failure that comes sooner',
      ({ collect, acknowledging }) => expect(collect(job)).toEqual(acknowledging(worker, 1)),
    ],
    [
      'where another worker has the job by then, which is the one to name',
      ({ announce, collect, acknowledging }) => {
        announce(job, other, 2);
        expect(collect(job)).toEqual(acknowledging(other, 2));
      },
    ],
    ['once the job has ended', ({ forget }) => forget(job)],
  ])('is not sent alone %s', async (_where, happens) => {
    const scene = createScene(landed);
    scene.announce(job, worker, 1);
    happens(scene);
    await linger();
    expect(scene.sent).toEqual([]);
  });

  it('is not kept once the job has ended', () => {
    const { announce, collect, forget } = createScene(landed);
    announce(job, worker, 1);
    forget(job);
    expect(collect(job)).toBeUndefined();
  });
});
