import { readFileSync } from 'node:fs';
import { type AccountInfo, PublicKey } from '@solana/web3.js';
import { programAt } from '../../localnet/escrow.ts';
import { type DeployedProgram, UPGRADEABLE_LOADER } from '../../localnet/runtime/deployment.ts';
import { type Account, RENT_EPOCH_NEVER } from '../../localnet/runtime/runtime.ts';
import type { LedgerConnection } from '../../programs/client/ledgerConnection.ts';
import { asCommandError } from '../terminal/asCommandError.ts';
import { parseAddress, withLedgerNode } from '../terminal/ledgerNode.ts';
import { CommandError } from '../terminal/output.ts';

const ELF_MAGIC = '\x7fELF';

/**
 * The programs of `--bpf-program`, without an upgrade authority.
 *
 * @param words an address and a file for each
 * @throws CommandError for a file that is missing or no program
 */
export function readPrograms(words: readonly string[]): DeployedProgram[] {
  if (words.length % 2 === 1) throw new CommandError('--bpf-program takes an address and a file.');
  return Array.from({ length: words.length / 2 }, (_, index) => {
    const [address = '', file = ''] = words.slice(2 * index);
    return programAt(parseProgramId(address), readElf(file), null);
  });
}

function parseProgramId(text: string): PublicKey {
  try {
    return parseAddress(text);
  } catch {
    throw new CommandError(`--bpf-program takes an address and a file: '${text}' is no address.`);
  }
}

function readElf(file: string): Uint8Array {
  const elf = asCommandError(
    () => readFileSync(file),
    ({ message }) => `--bpf-program cannot read ${file}: ${message}`,
  );
  if (elf.toString('latin1', 0, ELF_MAGIC.length) === ELF_MAGIC) return elf;
  throw new CommandError(`--bpf-program ${file} is no program: it is no ELF file.`);
}

/** An upgradeable program's account holds the address of its data behind a number. */
const PROGRAM_DATA_AT = 4;
/** The most that a node answers for at once. */
const ACCOUNTS_MAX = 100;

type Entry = readonly [address: Uint8Array, account: Account];

/**
 * Copies accounts of another cluster, and the data of those that are programs.
 *
 * @throws CommandError when the node does not answer, or has no such account
 */
export function cloneAccounts(addresses: readonly PublicKey[], rpc: URL): Promise<Entry[]> {
  return withLedgerNode({ rpc }, async ({ connection }) => {
    const named = await fetchAll(connection, addresses, rpc);
    const programs = named.filter(([, { executable, owner }]) => executable && isLoader(owner));
    const dataOf = programs.map(([, { data }]) => new PublicKey(data.subarray(PROGRAM_DATA_AT)));
    const programData = await fetchAll(connection, dataOf, rpc);
    return [...programData, ...named].map(([address, info]) => entry(address, info));
  });
}

async function fetchAll(
  connection: LedgerConnection,
  addresses: readonly PublicKey[],
  rpc: URL,
): Promise<(readonly [PublicKey, AccountInfo<Buffer>])[]> {
  const found: (readonly [PublicKey, AccountInfo<Buffer>])[] = [];
  for (let from = 0; from < addresses.length; from += ACCOUNTS_MAX) {
    const part = addresses.slice(from, from + ACCOUNTS_MAX);
    const { value: infos } = await connection.getMultipleAccountsInfoAndContext(part);
    for (const [index, address] of part.entries()) {
      const info = infos[index];
      if (!info) throw new CommandError(`--clone ${address}: ${rpc.host} has no such account.`);
      found.push([address, info]);
    }
  }
  return found;
}

const isLoader = (owner: PublicKey): boolean => owner.equals(new PublicKey(UPGRADEABLE_LOADER));

function entry(address: PublicKey, info: AccountInfo<Uint8Array>): Entry {
  const { lamports, data, owner, executable } = info;
  const account = { data, executable, lamports: BigInt(lamports), owner: owner.toBytes() };
  return [address.toBytes(), { ...account, rentEpoch: RENT_EPOCH_NEVER }];
}
