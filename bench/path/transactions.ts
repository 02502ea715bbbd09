import type { Connection, VersionedTransactionResponse } from '@solana/web3.js';
import { PROGRAM_ID } from '../../programs/client/addresses.ts';
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
  while (signatures.length > 0) {
    const read = signatures.splice(0, AT_ONCE).map((signature) =>
      connection.getTransaction(signature, {
        commitment: 'confirmed',
        maxSupportedTransactionVersion: 0,
      }),
    );
    for (const transaction of await Promise.all(read)) {
      if (transaction) add(byInstructions, transaction);
    }
  }
  return [...byInstructions.values()];
}

function add(
  byInstructions: Map<string, TransactionCosts>,
  { transaction, meta }: VersionedTransactionResponse,
): void {
  const names = transaction.message.compiledInstructions
    .filter(({ programIdIndex }) =>
      transaction.message.staticAccountKeys[programIdIndex]?.equals(PROGRAM_ID),
    )
    .map(({ data }) => coder.instruction.decode(Buffer.from(data))?.name ?? 'unknown');
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
