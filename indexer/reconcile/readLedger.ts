import { type AccountInfo, PublicKey, SYSVAR_CLOCK_PUBKEY } from '@solana/web3.js';
import { delay } from '../../common/wait.ts';
import {
  type DecodedAccount,
  decodeAccount,
  isBlank,
  unixSecondsOf,
} from '../../programs/client/accounts.ts';
import type { Addresses } from '../../programs/client/addresses.ts';
import type { LedgerConnection } from '../../programs/client/ledgerConnection.ts';
import { decodeTokenAccount } from '../../programs/client/token/layout.ts';
import { isBoughtSince } from '../../programs/client/verify/ledgerState.ts';
import { RetryableError } from '../source/errors.ts';
import type { ListedTransaction } from '../source/source.ts';

/** Everything that the program holds, as of one slot. */
interface LedgerState {
  readonly slot: number;
  readonly accounts: ReadonlyMap<string, DecodedAccount>;
  /** How many more there are that mean nothing. */
  readonly blankAccounts: number;
  /** Null when tokens moved during every attempt. */
  readonly vaults: Vaults | null;
}

interface Vaults {
  readonly vaultBaseUnits: bigint;
  readonly stakeVaultBaseUnits: bigint;
}

/** Settlements come in bursts. Where they never pause, further attempts only burden the node. */
const ATTEMPTS_MAX = 10;
const PAUSE_MS = 1_000;
/** All accounts of a program take a node longer than a single one. */
export const ANSWER_MS_MAX = 60_000;
/** The most that a node reads at once. */
const ACCOUNTS_AT_ONCE = 100;
const COMMITMENT = 'confirmed';

/**
 * Reads accounts and vaults without any cursor or lock. It reads the vaults before and after the
 * accounts. Where both readings agree, and no credits were bought between them, they also hold for
 * the accounts. On a ledger that never rests, the last attempt returns the accounts alone.
 *
 * @param options.wait how time passes between two attempts
 * @throws RetryableError when the node does not answer, or the signal aborts between two attempts
 */
export async function readLedger(
  connection: LedgerConnection,
  addresses: Addresses,
  { signal, wait = delay }: { signal?: AbortSignal; wait?: typeof delay } = {},
): Promise<LedgerState> {
  for (let attempt = 1; ; attempt += 1) {
    const before = await readVaults(connection, addresses);
    const owned = await connection.getProgramAccounts(addresses.programId, {
      commitment: COMMITMENT,
      withContext: true,
    });
    const after = await readVaults(connection, addresses);
    const isUnchanged =
      before.slot <= owned.context.slot &&
      owned.context.slot <= after.slot &&
      before.vaultBaseUnits === after.vaultBaseUnits &&
      before.stakeVaultBaseUnits === after.stakeVaultBaseUnits;
    const isLast = attempt === ATTEMPTS_MAX;
    // Decoded only where it may count: there may be a million of them.
    if (isUnchanged || isLast) {
      const accounts = decodeAll(owned.value.map(({ pubkey, account }) => [pubkey, account]));
      const isSettled = isUnchanged && !isBoughtSince(accounts.values(), before.unixTime);
      const blankAccounts = owned.value.length - accounts.size;
      const read = { slot: owned.context.slot, accounts, blankAccounts };
      if (isSettled || isLast) return { ...read, vaults: isSettled ? after : null };
    }
    await wait(PAUSE_MS, signal);
    if (signal?.aborted) throw new RetryableError('Stopped before the ledger was read');
  }
}

/** Reads those of the addresses where the program has an account. @throws RetryableError */
export async function readAccounts(
  connection: LedgerConnection,
  addresses: readonly string[],
): Promise<Map<string, DecodedAccount>> {
  const found = new Map<string, DecodedAccount>();
  for (let from = 0; from < addresses.length; from += ACCOUNTS_AT_ONCE) {
    const keys = addresses.slice(from, from + ACCOUNTS_AT_ONCE).flatMap(keyOf);
    const { value: accounts } = await connection.getMultipleAccountsInfoAndContext(
      keys,
      COMMITMENT,
    );
    const entries = keys.map((key, index) => [key, accounts[index] ?? null] as const);
    for (const [address, account] of decodeAll(entries)) found.set(address, account);
  }
  return found;
}

/** None for what only a damaged mirror takes for an address. */
function keyOf(text: string): PublicKey[] {
  try {
    return [new PublicKey(text)];
  } catch {
    return [];
  }
}

/** Leaves out what is blank: a closed account, too, may be there still, empty and the System program's. */
function decodeAll(
  entries: readonly (readonly [PublicKey, AccountInfo<Buffer> | null])[],
): Map<string, DecodedAccount> {
  return new Map(
    entries.flatMap(([key, account]) =>
      account && !isBlank(account.data) ? [[key.toBase58(), decodeAccount(account.data)]] : [],
    ),
  );
}

async function readVaults(
  connection: LedgerConnection,
  addresses: Addresses,
): Promise<Vaults & { slot: number; unixTime: bigint }> {
  const { context, value } = await connection.getMultipleAccountsInfoAndContext(
    [addresses.vault, addresses.stakeVault, SYSVAR_CLOCK_PUBKEY],
    COMMITMENT,
  );
  const [vault, stakeVault, clock] = value;
  if (!clock) throw new RetryableError("The ledger's node shows no Clock");
  return {
    slot: context.slot,
    unixTime: unixSecondsOf(clock),
    vaultBaseUnits: amountOf(vault),
    stakeVaultBaseUnits: amountOf(stakeVault),
  };
}

/** What a token account holds; nothing where there is none. */
function amountOf(account: AccountInfo<Buffer> | null | undefined): bigint {
  return account ? decodeTokenAccount(account.data).amount : 0n;
}

/**
 * The newest transaction that mentions an address. None where the node knows of none, and for what
 * only a damaged mirror takes for an address.
 *
 * @throws RetryableError
 */
export async function readNewest(
  connection: LedgerConnection,
  address: string,
): Promise<ListedTransaction | undefined> {
  const [key] = keyOf(address);
  if (!key) return undefined;
  const [newest] = await connection.getSignaturesForAddress(key, { limit: 1 }, COMMITMENT);
  if (!newest) return undefined;
  const { signature, slot, err } = newest;
  return { signature, slot: BigInt(slot), failed: err !== null };
}
