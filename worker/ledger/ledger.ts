import { type PublicKey, SYSVAR_CLOCK_PUBKEY } from '@solana/web3.js';
import type { Commitment } from '../../common/net/commitment.ts';
import { describeConnectionFault } from '../../common/net/connectionFault.ts';
import { delay, within } from '../../common/wait.ts';
import {
  type AccountName,
  type Accounts,
  accountKind,
  decodeAccount,
  modelText,
  unixSecondsOf,
  workerModels,
} from '../../programs/client/accounts.ts';
import { createAddresses } from '../../programs/client/addresses.ts';
import { accountSize, IDL } from '../../programs/client/codec.ts';
import { toBase58 } from '../../programs/client/keys.ts';
import { type Account, getMultipleAccounts } from '../../programs/client/rpc/methods.ts';
import type { Rpc } from '../../programs/client/rpc/rpc.ts';
import { WorkerError } from '../protocol/errors.ts';

/** One consistent reading of this worker's own account. */
export interface OwnReading {
  /** Undefined while it was never registered. */
  worker: Accounts['Worker'] | undefined;
  /** The ledger's own time. */
  unixSeconds: bigint;
}

/** One consistent reading of what decides whether this worker may take jobs at all. */
export interface Registration {
  /** Undefined while it was never registered. */
  worker: Accounts['Worker'] | undefined;
  /** Undefined while the program was never initialized. */
  config: Accounts['Config'] | undefined;
}

/** What `GET /health` needs of the ledger. */
export interface Hosting extends Registration {
  /** Model ids that the Worker account declares; none while it is not registered. */
  models: string[];
}

/** One consistent reading of what decides whether a job may run. */
export interface JobReading extends OwnReading, Registration {
  job: Accounts['Job'] | undefined;
}

export type WorkerLedger = ReturnType<typeof createWorkerLedger>;

/** The RPC client itself has a longer time-out. */
const READ_TIMEOUT_MS = 2_000;
/** A lost request, or a moment in which this machine stood still, costs no job. */
const JOB_TRIES = 2;
/** Requests may name any account, so each is read only up to the size of our largest one. */
const BYTES_MAX = Math.max(...(IDL.accounts ?? []).map(({ name }) => accountSize(name)));
const DATA_SLICE = { offset: 0, length: BYTES_MAX };

/**
 * Everything the worker reads from the ledger; it never writes. Each method throws WorkerError
 * `ledger_unavailable`.
 *
 * @param options.worker the address of this worker's account
 * @param options.commitment how sure the ledger has to be: a lock that is not confirmed may be
 *   dropped, and its work would not be paid
 */
export function createWorkerLedger(options: {
  rpc: Rpc;
  programId: PublicKey;
  worker: PublicKey;
  commitment: Commitment | Promise<Commitment>;
}) {
  const { rpc, programId, worker, commitment } = options;
  const { config } = createAddresses(programId);

  async function read(addresses: PublicKey[], tries = 1): Promise<(Account | null)[]> {
    const how = { commitment: await commitment, dataSlice: DATA_SLICE };
    try {
      for (let asked = 0; asked < tries; asked += 1) {
        const reading = getMultipleAccounts(rpc, addresses.map(toBase58), how);
        const answer = await within(READ_TIMEOUT_MS, reading);
        if (answer) return answer.value;
      }
      throw new DOMException(`No answer within ${tries * READ_TIMEOUT_MS} ms`, 'TimeoutError');
    } catch (error) {
      const reason = `The ledger did not answer: ${describeConnectionFault(error)}`;
      throw new WorkerError('ledger_unavailable', reason, { cause: error });
    }
  }

  const decode = <Name extends AccountName>(name: Name, info: Account | null | undefined) =>
    decodeOwned(programId, name, info);

  return {
    async readJob(address: PublicKey): Promise<JobReading> {
      const addresses = [address, worker, config, SYSVAR_CLOCK_PUBKEY];
      const [job, own, settings, clock] = await read(addresses, JOB_TRIES);
      return {
        job: decode('Job', job),
        worker: decode('Worker', own),
        config: decode('Config', settings),
        unixSeconds: timeOf(clock),
      };
    },
    async readGateway(address: PublicKey): Promise<Accounts['Gateway'] | undefined> {
      const [gateway] = await read([address], JOB_TRIES);
      return decode('Gateway', gateway);
    },
    async readOwn(): Promise<OwnReading> {
      const [own, clock] = await read([worker, SYSVAR_CLOCK_PUBKEY]);
      return { worker: decode('Worker', own), unixSeconds: timeOf(clock) };
    },
    async readHosting(): Promise<Hosting> {
      const [own, settings] = await read([worker, config]);
      const account = decode('Worker', own);
      const registration = { worker: account, config: decode('Config', settings) };
      if (account === undefined) return { ...registration, models: [] };
      const infos = await read(workerModels(account));
      const models = infos.flatMap((info) => {
        const model = decode('Model', info);
        return model === undefined ? [] : [modelText(model).id];
      });
      return { ...registration, models };
    },
  };
}

/**
 * Accounts of other programs, of another kind, and empty ones count as absent.
 *
 * @throws Error when the account is of a version this client cannot read
 */
function decodeOwned<Name extends AccountName>(
  programId: PublicKey,
  name: Name,
  info: Account | null | undefined,
): Accounts[Name] | undefined {
  if (info?.owner !== toBase58(programId)) return undefined;
  if (accountKind(info.data) !== name) return undefined;
  return decodeAccount(info.data).data as Accounts[Name];
}

function timeOf(clock: Account | null | undefined): bigint {
  if (!clock) throw new WorkerError('ledger_unavailable', 'The ledger has no Clock');
  return unixSecondsOf(clock);
}

/**
 * The ledger's time at the start of this process, in Unix seconds; resolves once that second is over.
 *
 * Another process of this worker may have proven any job that was locked until then. The ledger
 * counts whole seconds, so jobs before and after the start differ only once the second is over.
 *
 * Undefined when the worker was not registered yet: then it cannot have proven anything.
 *
 * @throws WorkerError `ledger_unavailable`; the next call asks again
 */
export type ReadLedgerStart = () => Promise<bigint | undefined>;

const POLL_MS = 100;
/** Three seconds: the ledger's time may pause for some slots, and callers wait no longer. */
const POLLS_MAX = 30;

/**
 * Reads at once. All callers share one reading. A failed one is repeated by the next call; being
 * later, it only excludes more jobs.
 */
export function createLedgerStart(
  ledger: Pick<WorkerLedger, 'readOwn'>,
  wait: (ms: number) => Promise<void> = delay,
): ReadLedgerStart {
  let cached: ReturnType<ReadLedgerStart> | undefined;

  async function readUntilPast(): ReturnType<ReadLedgerStart> {
    const { worker, unixSeconds: startSeconds } = await ledger.readOwn();
    if (worker === undefined) return undefined;
    for (let poll = 0; poll < POLLS_MAX; poll += 1) {
      await wait(POLL_MS);
      const { unixSeconds } = await ledger.readOwn();
      if (unixSeconds > startSeconds) return startSeconds;
    }
    throw new WorkerError('ledger_unavailable', "The ledger's time stands still");
  }

  async function read(): ReturnType<ReadLedgerStart> {
    cached ??= readUntilPast();
    const reading = cached;
    try {
      return await reading;
    } catch (error) {
      if (cached === reading) cached = undefined;
      throw error;
    }
  }

  // After a failure at the start, the next health check or job reads again.
  read().catch(() => undefined);
  return read;
}
