import type { PublicKey } from '@solana/web3.js';
import type { Commitment } from '../../common/net/commitment.ts';
import { delay } from '../../common/wait.ts';
import type { ExecutedTransaction } from '../../programs/client/events.ts';
import {
  getGenesisHash,
  getSignatureStatuses,
  getSignaturesForAddress,
  getSlot,
  getTransaction,
} from '../../programs/client/rpc/methods.ts';
import type { LedgerNode } from '../../programs/client/rpc/rpc.ts';
import { VERSION_MAX } from '../../programs/client/wire/index.ts';
import { decodeTransaction, type LedgerTransaction } from '../fold/event.ts';
import { RetryableError } from './errors.ts';
import { checkNodeSlot, retryWhileBehind } from './node.ts';

/** A transaction as the ledger lists it. */
export interface ListedTransaction {
  readonly signature: string;
  readonly slot: bigint;
  /** A failed transaction changed nothing and emitted nothing. */
  readonly failed: boolean;
}

/** A stretch of the ledger, both ends included. */
export interface SlotRange {
  readonly slot: bigint;
  readonly slotMax: bigint;
  /** Called at an empty page: whether a node knows a transaction before it (undefined: any). */
  readonly isKnown?: (before: bigint | undefined) => Promise<boolean>;
}

/** What the mirror reads from: the program's transactions, newest first, and each in full. */
export interface LedgerSource {
  /** How many reads may run at a time; by default, as many as are of use. */
  readonly readsAtOnce?: number;
  /**
   * The transactions older than `before` (without it: the newest), newest first; at most `limit`.
   * Those of the program, unless another address is given. A node that has not reached
   * `nodeSlotMin` lists nothing: it throws RetryableError.
   */
  list(query: {
    commitment: Commitment;
    address?: string;
    before?: string | undefined;
    limit: number;
    nodeSlotMin?: bigint;
  }): Promise<ListedTransaction[]>;
  read(listed: ListedTransaction): Promise<LedgerTransaction>;
  /**
   * The program's finalized transactions from `slot` on, as `listPages` gives them, where a node has
   * a better way. May list some twice, and goes on beyond `slotMax`.
   */
  listFinal?(range: SlotRange): AsyncGenerator<readonly ListedTransaction[]>;
  /** The newest slot of that commitment. */
  slot(commitment: Commitment): Promise<bigint>;
  /** Identifies the ledger. */
  genesisHash(): Promise<string>;
  /**
   * In which slot each of at most 256 signatures has succeeded. A transaction whose fork was
   * abandoned may have landed again in another one. Unknown and failed ones are left out.
   *
   * @throws RetryableError when the node has not reached `nodeSlotMin`, and may lack what is there
   */
  locate(signatures: readonly string[], nodeSlotMin: bigint): Promise<ReadonlyMap<string, bigint>>;
}

/**
 * @param options.readsAtOnce where the node allows fewer than are of use
 * @param options.wait how time passes while a node is behind
 */
export function createLedgerSource(options: {
  node: LedgerNode;
  programId: PublicKey;
  readsAtOnce?: number;
  wait?: typeof delay;
}): LedgerSource {
  const { node, programId, readsAtOnce, wait = delay } = options;

  return {
    ...(readsAtOnce !== undefined && { readsAtOnce }),

    async list({ commitment, address = programId.toBase58(), before, limit, nodeSlotMin }) {
      const config = {
        commitment,
        limit,
        ...(before && { before }),
        // A node that has not reached this slot refuses the request.
        ...(nodeSlotMin !== undefined && { minContextSlot: Number(nodeSlotMin) }),
      };
      const rows = await retryWhileBehind(
        () => getSignaturesForAddress(node, address, config),
        wait,
      );
      return rows.map(({ signature, slot, err }) => ({
        signature,
        slot: BigInt(slot),
        failed: err !== null,
      }));
    },

    read: ({ signature, slot }) => readTransaction({ node, programId }, { signature, slot }),

    async slot(commitment) {
      return BigInt(await getSlot(node, { commitment }));
    },

    genesisHash: () => getGenesisHash(node),

    async locate(signatures, nodeSlotMin) {
      const { value } = await retryWhileBehind(async () => {
        const history = { searchTransactionHistory: true };
        const statuses = await getSignatureStatuses(node, signatures, history);
        checkNodeSlot(statuses, nodeSlotMin);
        return statuses;
      }, wait);
      const slots = new Map<string, bigint>();
      for (const [index, signature] of signatures.entries()) {
        const status = value[index];
        if (status?.err === null) slots.set(signature, BigInt(status.slot));
      }
      return slots;
    },
  };
}

type ShownTransaction = ExecutedTransaction & { readonly slot: number };

async function readTransaction(
  { node, programId }: { node: LedgerNode; programId: PublicKey },
  { signature, slot }: { signature: string; slot: bigint },
): Promise<LedgerTransaction> {
  const executed = (await getTransaction(node, signature, {
    commitment: 'confirmed',
    // Other senders may use any version.
    maxSupportedTransactionVersion: VERSION_MAX,
  })) as ShownTransaction | null;
  // A node may list a transaction a moment before it can show it.
  if (!executed?.meta) throw new RetryableError(`The ledger does not show ${signature} yet`);
  // Another node may follow another fork, on which the same transaction did something else.
  if (BigInt(executed.slot) !== slot) {
    throw new RetryableError(`The ledger shows ${signature} in another slot than it listed`);
  }
  // A node that records inner instructions shows at least an empty list. Without them, the
  // transaction would look as if it had no events.
  if (executed.meta.err === null && !Array.isArray(executed.meta.innerInstructions)) {
    throw new RetryableError(`The ledger's node did not record what happened in ${signature}`);
  }
  return decodeTransaction({ signature, slot }, executed, programId);
}
