import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import type { LedgerContext } from '../../api/ledger/context.ts';
import { createDisputeOnLedger } from '../../api/ledger/disputeOnLedger.ts';
import type { LockedJob } from '../../api/ledger/job.ts';
import { createOrphanEnd, createStatusLookup } from '../../api/ledger/jobLookup.ts';
import { failOnLedger, refundOnLedger } from '../../api/ledger/refundOnLedger.ts';
import type { Database } from '../../common/postgres.ts';
import { systemTime } from '../../common/wait.ts';
import { createAddresses } from '../../programs/client/addresses.ts';
import { decodeArguments, IDL } from '../../programs/client/codec.ts';
import type { JobStatus } from '../../programs/client/generated/vocabulary.ts';
import { jobAcknowledge } from '../../programs/client/instructions.ts';
import { createJobId, formatJobId } from '../../programs/client/jobId.ts';
import {
  LedgerUnavailableError,
  type SendResult,
} from '../../programs/client/sender/sendResult.ts';
import { toCoder } from '../../testing/ledger/anchorCoder.ts';
import { encodedAccount } from './encodedAccount.ts';

// What the ledger's own tests cannot bring about at will: how an exit's sending ends, and when.

const T_SECONDS = 122n;
const addresses = createAddresses();
const job = {
  ...{ id: 'job', wallet: 'a wallet', deadlines: { refundableAt: T_SECONDS } },
  ...{ address: Keypair.generate().publicKey, creditAccount: Keypair.generate().publicKey },
} as LockedJob;

const landed: SendResult = { status: 'landed', signature: 'an exit', slot: 6 };
const expired: SendResult = {
  ...{ status: 'expired', signature: 'an exit', lastValidBlockHeight: 1, slot: 7 },
};
const refused: SendResult = {
  ...{ status: 'failed', signature: null, slot: 5 },
  error: { name: 'WrongJobStatus', code: 6_000, instructionIndex: 0 },
};
const away = new LedgerUnavailableError('away', { signature: null });

const wallet = Keypair.generate().publicKey;
const creditAccount = addresses.creditAccount(wallet);
const jobId = formatJobId(createJobId({ nowMs: 1_800_000_000_000, creditAccount }).bytes);

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/**
 * @param sent how the sendings end, one after the other; all further ones as the last
 * @param fields of the Job, of which the others are drawn
 */
function createScene(
  sent: (SendResult | Error)[],
  initial: JobStatus | null = 'processing',
  fields: object = {},
) {
  const names: string[] = [];
  const reasons: unknown[] = [];
  let nowSeconds = 100n;
  let present = initial;
  const getAccountInfo = async () =>
    present &&
    encodedAccount('Job', {
      ...fields,
      status: toCoder(present, { defined: { name: 'JobStatus' } }),
    });
  const context = {
    addresses,
    clock: { nowSeconds: () => nowSeconds },
    gateway: Keypair.generate().publicKey,
    signer: Keypair.generate(),
    connection: { getAccountInfo },
    exits: {
      async add({ instructions }: { instructions: { data: Buffer }[] }) {
        reasons.push(...instructions.flatMap(({ data }) => reasonOf(data) ?? []));
        names.push(instructions.map(({ data }) => nameOf(data)).join(' and '));
        const end = (sent.length > 1 ? sent.shift() : sent[0]) as SendResult | Error;
        if (end instanceof Error) throw end;
        return end;
      },
    },
    time: systemTime,
  } as unknown as LedgerContext;
  const at = (seconds: bigint): void => {
    nowSeconds = seconds;
  };
  const become = (status: JobStatus | null): void => {
    present = status;
  };
  return { context, names, reasons, at, become };
}

const reasonOf = (data: Buffer) => decodeArguments('job_fail', data)?.reason;

function nameOf(data: Buffer): string {
  const found = IDL.instructions.find(({ discriminator }) =>
    data.subarray(0, 8).equals(Buffer.from(discriminator)),
  );
  return found?.name ?? '';
}

/** Lets pauses between two tries pass. */
async function ended<End>(exit: Promise<End>): Promise<End> {
  const guarded = exit.then(
    (end) => () => end,
    (error: unknown) => () => {
      throw error;
    },
  );
  await jest.advanceTimersByTimeAsync(60_000);
  return (await guarded)();
}

describe('failing a job', () => {
  const failed = { status: 'failed', signature: 'an exit' };
  const refunded = { status: 'refunded', signature: 'an exit' };
  const once = ['job_fail'];
  const twice = ['job_fail', 'job_fail'];
  const inTurn = ['job_fail', 'job_refund'];

  it.each<[string, (SendResult | Error)[], JobStatus, object, string[]]>([
    ['again after an outage', [away, landed], 'processing', failed, twice],
    ['again after it expired', [expired, landed], 'processing', failed, twice],
    [
      'once where it is settled',
      [refused],
      'settled',
      { status: 'settled', signature: null },
      once,
    ],
    ['once where it has failed', [refused], 'failed', { status: 'failed', signature: null }, once],
    ['once after a refund', [refused], 'refunded', { status: 'refunded', signature: null }, once],
  ])('is sent %s', async (_when, sent, status, expected, instructions) => {
    const { context, names } = createScene([...sent], status);
    expect(await ended(failOnLedger(context, job, 'worker_error'))).toEqual(expected);
    expect(names).toEqual(instructions);
  });

  it('carries its worker’s acknowledgement, and goes alone if that is refused', async () => {
    const { context, names } = createScene([refused, landed]);
    const worker = Keypair.generate().publicKey;
    const about = { programId: addresses.programId, signer: worker, gateway: worker };
    const acknowledgement = jobAcknowledge({ ...about, job: job.address, worker, attempt: 1 });
    const end = await ended(failOnLedger(context, job, 'worker_error', { acknowledgement }));
    expect(end).toEqual(failed);
    expect(names).toEqual(['job_acknowledge and job_fail', 'job_fail']);
  });

  it.each([
    ['once anybody may refund', T_SECONDS, [landed], ['job_refund']],
    ['when T passes before it has landed', 0n, [expired, landed], inTurn],
  ])('turns into a refund %s', async (_when, beginsAt, sent, expected) => {
    const { context, names, at } = createScene([...sent]);
    at(beginsAt);
    const ending = failOnLedger(context, job, 'worker_error');
    at(T_SECONDS);
    expect(await ended(ending)).toEqual(refunded);
    expect(names).toEqual(expected);
  });

  it.each([
    ['no node answers', away],
    ['its transactions expire', expired],
  ])(
    'is left to the keeper after twenty attempts, 300 ms apart, while %s',
    async (_why, outcome) => {
      const { context, names } = createScene([outcome]);
      const startMs = performance.now();
      let tookMs = 0;
      const failing = failOnLedger(context, job, 'worker_error').finally(() => {
        tookMs = performance.now() - startMs;
      });
      await expect(ended(failing)).rejects.toThrow('job could not be');
      expect(names).toHaveLength(20);
      expect(tookMs).toBe(20 * 300);
    },
  );
});

describe('refunding a job', () => {
  it('succeeds when the job was closed by then', async () => {
    const { context } = createScene([refused], null);
    const end = await ended(refundOnLedger(context, job));
    expect(end).toEqual({ status: 'refunded', signature: null, isClosed: true });
  });
});

describe('ending a job that no process runs', () => {
  it.each([
    ['closed, since it may have been settled before', null, 'closed'],
    ['settled', 'settled', 'settled'],
  ] as const)('finds it %s', async (_how, until, expected) => {
    const { context, names, become } = createScene([away, refused]);
    const ending = createOrphanEnd(context)({ wallet: wallet.toBase58(), jobId });
    // It was read, and the node went away: by its next word the job has another end.
    become(until);
    expect(await ended(ending)).toBe(expected);
    expect(names).toHaveLength(2);
  });

  it.each([
    [0, 'orphaned'],
    [2, 'lease_lost'],
  ])('of %i attempts fails it as %s', async (attempt, reason) => {
    const times = { locked_at: toCoder(100n, 'i64'), job_timeout_seconds: 120 };
    const { context, reasons } = createScene([landed], 'processing', { ...times, attempt });
    const ending = createOrphanEnd(context)({ wallet: wallet.toBase58(), jobId });
    expect(await ended(ending)).toBe('failed');
    expect(reasons).toEqual([reason]);
  });
});

describe('a job that the ledger does not have', () => {
  /** @param traces how each transaction of the job's address ended */
  function lookUp(traces: { err: object | null }[], mirrored?: string) {
    const rows = mirrored === undefined ? [] : [{ status: mirrored }];
    const { context } = createScene([], null);
    Object.assign(context.connection, { getSignaturesForAddress: async () => traces });
    const database = { query: async () => ({ rows }) } as unknown as Database;
    return createStatusLookup({ database, context })({ wallet: wallet.toBase58(), jobId });
  }
  const REFUSED = { err: { InstructionError: [0, { Custom: 6_020 }] } };
  const DONE = { err: null };

  it.each([
    ['never existed without a transaction about it', [], undefined, undefined],
    ['never existed when each was refused', [REFUSED, REFUSED], undefined, undefined],
    ['was closed when one succeeded', [REFUSED, DONE], undefined, 'closed'],
    ['was closed, though the mirror is behind', [DONE, DONE], 'processing', 'closed'],
    ['is settled where the mirror shows it', [DONE], 'settled', 'settled'],
    ['has failed where the mirror shows it', [DONE], 'failed', 'failed'],
    ['is refunded where the mirror shows it', [DONE], 'refunded', 'refunded'],
    ['is disputed where the mirror shows it', [DONE], 'disputed', 'disputed'],
  ])('%s', async (_what, traces, mirrored, expected) => {
    expect(await lookUp(traces, mirrored)).toBe(expected);
  });
});

describe('a dispute through a node that last saw', () => {
  const SETTLEMENT_SLOT = BigInt(refused.slot);

  it.each([
    ['less than the settlement is tried five times', 1n, 'service_unavailable', 5],
    ['the settlement is refused at once', 0n, { status: 'already open' }, 1],
  ])('%s', async (_what, behind, expected, tries) => {
    const { context, names } = createScene([refused]);
    const address = Keypair.generate().publicKey.toBase58();
    const settled = { address, wallet: address, settlement_slot: SETTLEMENT_SLOT + behind };
    const dispute = createDisputeOnLedger(context);
    const opening = dispute
      .open(settled as unknown as Parameters<typeof dispute.open>[0], '00'.repeat(32))
      .catch((error: { code: string }) => error.code);
    expect(await ended(opening)).toEqual(expected);
    expect(names).toHaveLength(tries);
  });
});
