import { createRequire } from 'node:module';
import type * as Binding from 'litesvm/dist/internal.js';
import { nameOfBytes } from '../../programs/client/platform/bytes.ts';
import { type SvmError, type TransactionError, transactionErrorOf } from './transactionError.ts';

const require = createRequire(import.meta.url);
const binding = loadBinding();

/**
 * Loads only LiteSVM's native part, which is a package for each platform: `litesvm` itself depends on
 * @solana/kit, of 100 MB. If only `litesvm` is installed, it is used.
 */
function loadBinding(): typeof Binding {
  const { platform, arch } = process;
  const libraries = platform === 'linux' ? ['-gnu', '-musl'] : [''];
  const packages = libraries.map((library) => `litesvm-${platform}-${arch}${library}`);
  const found = packages.find(isInstalled);
  return require(found ?? 'litesvm/dist/internal.js');
}

function isInstalled(name: string): boolean {
  try {
    return require.resolve(name) !== '';
  } catch {
    return false;
  }
}

/** An account on the ledger. */
export interface Account {
  readonly lamports: bigint;
  readonly data: Uint8Array;
  /** The 32 bytes of its program's address. */
  readonly owner: Uint8Array;
  readonly executable: boolean;
  readonly rentEpoch: bigint;
}

/** A call by a program. Indices refer to the transaction's accounts. */
export interface InnerInstruction {
  readonly programIdIndex: number;
  readonly accounts: Uint8Array;
  readonly data: Uint8Array;
  readonly stackHeight: number;
}

/** The result of running a transaction. */
export interface Execution {
  /** Null when it succeeded. */
  readonly err: TransactionError | null;
  readonly logs: readonly string[];
  /** By top-level instruction. */
  readonly innerInstructions: readonly (readonly InnerInstruction[])[];
  readonly computeUnits: number;
  readonly returnData: { readonly programId: Uint8Array; readonly data: Uint8Array } | null;
}

/** The Clock sysvar. */
type ClockTime = { readonly slot: bigint; readonly unixSeconds: bigint };

/** An account that the runtime cannot use, for example an invalid program. */
export class AccountRefusedError extends Error {
  override name = 'AccountRefusedError';
}

export interface Simulation extends Execution {
  /** Accounts that the transaction would write, by the name of their address. */
  readonly after: ReadonlyMap<string, Account>;
}

export const ADDRESS_BYTES = 32;
/** The rent epoch of a rent-exempt account. */
export const RENT_EPOCH_NEVER = 2n ** 64n - 1n;
const SYSTEM_PROGRAM = new Uint8Array(ADDRESS_BYTES);
/** Of the System program, without lamports. */
export const EMPTY_ACCOUNT: Account = {
  lamports: 0n,
  data: new Uint8Array(),
  owner: SYSTEM_PROGRAM,
  executable: false,
  rentEpoch: RENT_EPOCH_NEVER,
};
/** As on clusters, without the short epochs at the start. */
export const SLOTS_PER_EPOCH = 432_000n;
/** Clusters truncate a transaction's log at this length. */
const LOG_BYTES_MAX = 10_000n;

export type Runtime = ReturnType<typeof createRuntime>;

/**
 * Accounts and the programs that change them: LiteSVM, which is Solana's own runtime without a
 * network, with only the system's and the token programs. It has no blocks and no history, and
 * accepts any blockhash.
 *
 * LiteSVM ends the process on malformed input, and `catch` does not help. So input is decoded strictly
 * before (`wire/transaction.ts`), and addresses are checked here.
 *
 * @param options.rentLamportsPerByte what an account needs for each of its bytes to be rent-exempt
 */
export function createRuntime(options: { rentLamportsPerByte?: bigint | undefined } = {}) {
  const svm = openLiteSvm(options.rentLamportsPerByte);
  return {
    /** Runs a transaction and charges its fee. @param isLegacy whether it has no version byte */
    execute(wire: Uint8Array, isLegacy: boolean): Execution {
      return executionOf(
        isLegacy ? svm.sendLegacyTransaction(wire) : svm.sendVersionedTransaction(wire),
      );
    },

    /** Runs a transaction without any effect. */
    simulate(
      wire: Uint8Array,
      { isLegacy, verifiesSignatures }: { isLegacy: boolean; verifiesSignatures: boolean },
    ): Simulation {
      svm.setSigverify(verifiesSignatures);
      try {
        return simulationOf(
          isLegacy ? svm.simulateLegacyTransaction(wire) : svm.simulateVersionedTransaction(wire),
        );
      } finally {
        svm.setSigverify(true);
      }
    },

    /** Null without an account, which is the same as without lamports. */
    account(address: Uint8Array): Account | null {
      const found = svm.getAccount(expectAddress(address));
      return found === null ? null : accountOf(found);
    },

    lamports: (address: Uint8Array): bigint => svm.getBalance(expectAddress(address)) ?? 0n,

    /** Null deletes it. @throws AccountRefusedError for a broken program or sysvar */
    setAccount(address: Uint8Array, account: Account | null): void {
      const { lamports, data, owner, executable, rentEpoch } = account ?? EMPTY_ACCOUNT;
      expectAddress(owner);
      const written = new binding.Account(lamports, data, owner, executable, rentEpoch);
      expectAddress(address);
      try {
        svm.setAccount(address, written);
      } catch (error) {
        throw new AccountRefusedError((error as Error).message, { cause: error });
      }
    },

    /** All accounts of a program, in no order. */
    accountsOf: (programId: Uint8Array) =>
      svm
        .getProgramAccounts(expectAddress(programId))
        .map((entry) => [entry.address, accountOf(entry.account())] as const),

    clock(): ClockTime {
      const { slot, unixTimestamp } = svm.getClock();
      return { slot, unixSeconds: unixTimestamp };
    },

    setClock({ slot, unixSeconds }: ClockTime): void {
      const epoch = slot / SLOTS_PER_EPOCH;
      svm.setClock(new binding.Clock(slot, 0n, epoch, epoch + 1n, unixSeconds));
    },

    rentExemptLamports: (dataBytes: number): bigint =>
      svm.minimumBalanceForRentExemption(BigInt(dataBytes)),
  };
}

function openLiteSvm(rentLamportsPerByte: bigint | undefined) {
  const svm = new binding.LiteSvm();
  if (rentLamportsPerByte !== undefined) {
    const rent = svm.getRent();
    rent.lamportsPerByteYear = rentLamportsPerByte;
    svm.setRent(rent);
  }
  // The bank checks blockhashes and repeats: LiteSVM knows only one blockhash.
  svm.setBlockhashCheck(false);
  svm.setTransactionHistory(0n);
  svm.setLogBytesLimit(LOG_BYTES_MAX);
  svm.setEpochSchedule(new binding.EpochSchedule(SLOTS_PER_EPOCH, SLOTS_PER_EPOCH, false, 0n, 0n));
  return svm;
}

function simulationOf(
  result: ReturnType<InstanceType<typeof binding.LiteSvm>['simulateLegacyTransaction']>,
): Simulation {
  if (result instanceof binding.FailedTransactionMetadata) {
    return { ...executionOf(result), after: new Map() };
  }
  const after = result
    .postAccounts()
    .map((entry) => [nameOfBytes(entry.address), accountOf(entry.account())] as const);
  return { ...executionOf(result.meta()), after: new Map(after) };
}

function expectAddress(address: Uint8Array): Uint8Array {
  if (address.length === ADDRESS_BYTES) return address;
  throw new Error(`an address has ${ADDRESS_BYTES} bytes, not ${address.length}`);
}

function accountOf(account: Binding.Account): Account {
  return {
    lamports: account.lamports(),
    data: account.data(),
    owner: account.owner(),
    executable: account.executable(),
    rentEpoch: account.rentEpoch(),
  };
}

function executionOf(
  result: Binding.TransactionMetadata | Binding.FailedTransactionMetadata,
): Execution {
  const failed = result instanceof binding.FailedTransactionMetadata;
  const meta = failed ? result.meta() : result;
  const returned = meta.returnData();
  const returnedBytes = returned.data();
  return {
    err: failed ? transactionErrorOf(result.err() as number | SvmError) : null,
    logs: meta.logs(),
    innerInstructions: meta.innerInstructions().map((calls) => calls.map(innerInstructionOf)),
    computeUnits: Number(meta.computeUnitsConsumed()),
    returnData:
      returnedBytes.length === 0 ? null : { programId: returned.programId(), data: returnedBytes },
  };
}

function innerInstructionOf(inner: Binding.InnerInstruction): InnerInstruction {
  const instruction = inner.instruction();
  return {
    programIdIndex: instruction.programIdIndex(),
    accounts: instruction.accounts(),
    data: instruction.data(),
    stackHeight: inner.stackHeight(),
  };
}
