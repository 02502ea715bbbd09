import { base58 } from '@scure/base';
import type { Connection } from '@solana/web3.js';
import { PROGRAM_ID } from '../../programs/client/addresses.ts';
import { IDL } from '../../programs/client/codec.ts';
import { connectRpc } from '../../programs/client/rpc/rpc.ts';
import {
  type CompiledInstruction,
  decodeTransaction,
  type MessageVersion,
  VERSION_MAX,
} from '../../programs/client/wire/index.ts';
import { coder } from '../../testing/ledger/anchorCoder.ts';

/** All transactions of a version with the same instructions of the program, and their total cost. */
export interface TransactionCosts {
  version: MessageVersion;
  /** Their names in the IDL, without duplicates. */
  instructions: string;
  transactions: number;
  /** A transaction may carry the instructions of several jobs. */
  jobs: number;
  computeUnits: number;
  feeLamports: number;
  /** As the network carries them. */
  bytes: number;
}

/** A transaction of any version, as its node has it. */
interface Landed {
  readonly transaction: readonly [base64: string, encoding: 'base64'];
  readonly meta: { readonly computeUnitsConsumed: number; readonly fee: number } | null;
}

const PAGE = 1_000;
const AT_ONCE = 16;

/** The newest transaction of the program. */
export async function newestSignature(connection: Connection): Promise<string | undefined> {
  const [newest] = await connection.getSignaturesForAddress(PROGRAM_ID, { limit: 1 }, 'confirmed');
  return newest?.signature;
}

/**
 * Reads the costs of the program's transactions from the ledger: all that succeeded after `until`.
 *
 * @param until a signature; it and older ones are excluded
 */
export async function readCosts(
  connection: Connection,
  until: string | undefined,
): Promise<TransactionCosts[]> {
  const signatures = await readSignatures(connection, until);
  const byKind = new Map<string, TransactionCosts>();
  const rpc = connectRpc({ url: connection.rpcEndpoint });
  const config = { encoding: 'base64', commitment: 'confirmed' };
  while (signatures.length > 0) {
    const read = signatures
      .splice(0, AT_ONCE)
      .map((signature) =>
        rpc.ask(
          'getTransaction',
          [signature, { ...config, maxSupportedTransactionVersion: VERSION_MAX }],
          (found) => found as Landed | null,
        ),
      );
    for (const landed of await Promise.all(read)) if (landed) add(byKind, landed);
  }
  return [...byKind.values()];
}

async function readSignatures(
  connection: Connection,
  until: string | undefined,
): Promise<string[]> {
  const signatures: string[] = [];
  let before: string | undefined;
  for (;;) {
    const place = { limit: PAGE, ...(until && { until }), ...(before && { before }) };
    const page = await connection.getSignaturesForAddress(PROGRAM_ID, place, 'confirmed');
    signatures.push(...page.flatMap(({ err, signature }) => (err === null ? [signature] : [])));
    if (page.length < PAGE) return signatures;
    before = page.at(-1)?.signature;
  }
}

function add(byKind: Map<string, TransactionCosts>, { transaction, meta }: Landed): void {
  const wire = Buffer.from(transaction[0], 'base64');
  const { version, keys: keyBytes, instructions: all } = decodeTransaction(wire);
  const keys = keyBytes.map((key) => base58.encode(key));
  const own = all.filter(({ programIdIndex }) => keys[programIdIndex] === PROGRAM_ID.toBase58());
  const named = own.map((instruction) => ({ ...instruction, name: nameOf(instruction) }));
  const instructions = [...new Set(named.map(({ name }) => name))].join(' + ');
  const jobs = new Set(named.map(({ name, accounts }) => keys[accounts[jobIndexOf(name)] ?? -1]));
  const kind = `${version} ${instructions}`;
  const costs = byKind.get(kind) ?? {
    version,
    instructions,
    transactions: 0,
    jobs: 0,
    computeUnits: 0,
    feeLamports: 0,
    bytes: 0,
  };
  costs.transactions += 1;
  costs.jobs += jobs.size;
  costs.computeUnits += meta?.computeUnitsConsumed ?? 0;
  costs.feeLamports += meta?.fee ?? 0;
  costs.bytes += wire.length;
  byKind.set(kind, costs);
}

const nameOf = ({ data }: CompiledInstruction): string =>
  coder.instruction.decode(Buffer.from(data))?.name ?? 'unknown';

/** The place of the job among an instruction's accounts; -1 where it has none. */
const jobIndexOf = (name: string): number =>
  IDL.instructions
    .find((instruction) => instruction.name === name)
    ?.accounts.findIndex((account) => account.name === 'job') ?? -1;
