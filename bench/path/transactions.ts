import { base58 } from '@scure/base';
import type { Connection } from '@solana/web3.js';
import { PROGRAM_ID } from '../../programs/client/addresses.ts';
import { connectRpc } from '../../programs/client/rpc/connectRpc.ts';
import { getTransaction } from '../../programs/client/rpc/methods.ts';
import { VERSION_MAX } from '../../programs/client/wire/index.ts';
import { coder } from '../../testing/ledger/anchorCoder.ts';

/** All transactions with the same instructions of the program, and their total cost. */
export interface TransactionCosts {
  /** Their names in the IDL, without duplicates. */
  instructions: string;
  transactions: number;
  /** A transaction may carry the instructions of several jobs. */
  jobs: number;
  computeUnits: number;
  feeLamports: number;
}

/** A transaction of any version, as far as it is read here. */
interface TransactionJson {
  readonly transaction: {
    readonly message: {
      readonly accountKeys: readonly string[];
      readonly instructions: readonly { readonly programIdIndex: number; readonly data: string }[];
    };
  };
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
 * Reads the costs of the program's transactions from the ledger: all after `until`, up to a page.
 *
 * @param until a signature; it and older ones are excluded
 */
export async function readCosts(
  connection: Connection,
  until: string | undefined,
): Promise<TransactionCosts[]> {
  const found = await connection.getSignaturesForAddress(
    PROGRAM_ID,
    { limit: PAGE, ...(until && { until }) },
    'confirmed',
  );
  const signatures = found.filter(({ err }) => err === null).map(({ signature }) => signature);
  const byInstructions = new Map<string, TransactionCosts>();
  const rpc = connectRpc({ url: connection.rpcEndpoint });
  while (signatures.length > 0) {
    const read = signatures.splice(0, AT_ONCE).map((signature) =>
      getTransaction(rpc, signature, {
        commitment: 'confirmed',
        maxSupportedTransactionVersion: VERSION_MAX,
      }),
    );
    for (const transaction of await Promise.all(read)) {
      if (transaction) add(byInstructions, transaction as TransactionJson);
    }
  }
  return [...byInstructions.values()];
}

function add(
  byInstructions: Map<string, TransactionCosts>,
  { transaction: { message }, meta }: TransactionJson,
): void {
  const programId = PROGRAM_ID.toBase58();
  const names = message.instructions
    .filter(({ programIdIndex }) => message.accountKeys[programIdIndex] === programId)
    .map(
      ({ data }) => coder.instruction.decode(Buffer.from(base58.decode(data)))?.name ?? 'unknown',
    );
  const instructions = [...new Set(names)].join(' + ');
  const costs = byInstructions.get(instructions) ?? {
    instructions,
    transactions: 0,
    jobs: 0,
    computeUnits: 0,
    feeLamports: 0,
  };
  costs.transactions += 1;
  costs.jobs += names.filter((name) => name === names[0]).length;
  costs.computeUnits += meta?.computeUnitsConsumed ?? 0;
  costs.feeLamports += meta?.fee ?? 0;
  byInstructions.set(instructions, costs);
}
