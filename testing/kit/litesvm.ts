import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { base58 } from '@scure/base';
import { Keypair, PublicKey } from '@solana/web3.js';
import { deployProgram, UPGRADEABLE_LOADER } from '../../localnet/runtime/deployment.ts';
import {
  createRuntime,
  type Execution,
  RENT_EPOCH_NEVER,
  type Runtime,
} from '../../localnet/runtime/runtime.ts';
import type { TransactionError } from '../../localnet/runtime/transactionError.ts';
import { findAddress } from '../../programs/client/addresses.ts';
import { type DecodedEvent, decodeEvents, PROGRAM_ID } from '../../programs/client/index.ts';

import { signTransaction } from '../../programs/client/sender/transaction.ts';
import { decodeTransaction } from '../../programs/client/wire/index.ts';
import { type Chain, createAccountWriters, FIRST_SECOND, nameFailure, Refusal } from './chain.ts';

/**
 * The text of a Refusal: Solana's message for an error with a number, and otherwise the runtime's name
 * of the error, such as `PrivilegeEscalation`.
 */
function refusalText(error: TransactionError): string {
  if (typeof error === 'string') return error;
  if (!('InstructionError' in error)) return JSON.stringify(error);
  const [index, cause] = error.InstructionError;
  const reason =
    typeof cause === 'string' ? cause : `custom program error: 0x${cause.Custom.toString(16)}`;
  return `Error processing Instruction ${index}: ${reason}`;
}

/**
 * The program's events among the calls of a transaction that LiteSVM executed.
 *
 * @param accountKeys the transaction's accounts, in the order of its message
 */
function executedEvents(
  { err, innerInstructions }: Execution,
  accountKeys: readonly PublicKey[],
): DecodedEvent[] {
  return decodeEvents({
    transaction: { message: { accountKeys } },
    meta: {
      err,
      innerInstructions: innerInstructions.map((calls, index) => ({
        index,
        instructions: calls.map(({ programIdIndex, accounts, data }) => ({
          programIdIndex,
          accounts: [...accounts],
          data: base58.encode(data),
        })),
      })),
    },
  });
}

const ARTIFACT = join(import.meta.dirname, '../../programs/escrow/artifacts/escrow-v3.so');
const LOADER = new PublicKey(UPGRADEABLE_LOADER);
/** The runtime accepts any blockhash. */
const BLOCKHASH = PublicKey.default.toBase58();
/** A program is usable from the slot after its deployment, which is slot 0. */
const FIRST_SLOT = 1n;

/** The same keys in every run, because the cost of an instruction depends on its derived addresses. */
const keyNamed = async (name: string): Promise<Keypair> =>
  Keypair.fromSeed(createHash('sha256').update(`svc-inference tests: ${name}`).digest());

/** Every chain's authority. Its key is public. */
export const authorityKey = (): Promise<Keypair> => keyNamed('authority');

interface LiteSvmOptions {
  /** The key that may upgrade and initialize the program; null: none. By default `authorityKey`. */
  readonly upgradeAuthority?: PublicKey | null;
  /** The program's address; by default the published one. */
  readonly programId?: PublicKey;
  /** The program's binary; by default the committed build for clusters. */
  readonly elf?: Uint8Array;
}

/**
 * Starts a chain in LiteSVM: Solana's own runtime, inside this process and within milliseconds. It
 * verifies every signature and returns events. Its Clock stays where it is set. It has no blocks: each
 * transaction is executed when it is sent, also repeats.
 */
export async function startLiteSvm(options: LiteSvmOptions = {}): Promise<Chain> {
  const [payer, authority] = await Promise.all([keyNamed('payer'), authorityKey()]);
  const {
    upgradeAuthority = authority.publicKey,
    programId = PROGRAM_ID,
    elf = readFileSync(ARTIFACT),
  } = options;
  const programData = findAddress([programId.toBytes()], LOADER);
  const runtime = createRuntime();
  runtime.setClock({ slot: FIRST_SLOT, unixSeconds: FIRST_SECOND });
  deployProgram(runtime, {
    programId: programId.toBytes(),
    programData: programData.toBytes(),
    elf,
    upgradeAuthority: upgradeAuthority?.toBytes() ?? null,
  });
  const chain = createChain(runtime, { payer, authority, programData });
  for (const key of [payer, authority]) chain.fund(key.publicKey);
  return chain;
}

function createChain(
  runtime: Runtime,
  keys: Pick<Chain, 'payer' | 'authority' | 'programData'>,
): Chain {
  const { payer } = keys;
  let readEvents = (): DecodedEvent[] => [];

  const account: Chain['account'] = async (address) => {
    const found = runtime.account(address.toBytes());
    if (found === null) return null;
    const { lamports, data, owner, executable } = found;
    return { lamports: Number(lamports), data, owner: new PublicKey(owner), executable };
  };
  const setAccount: Chain['setAccount'] = (address, { lamports, data, owner, executable }) =>
    runtime.setAccount(address.toBytes(), {
      lamports: BigInt(lamports),
      data,
      owner: owner.toBytes(),
      executable,
      rentEpoch: RENT_EPOCH_NEVER,
    });

  return {
    ...keys,
    ...createAccountWriters({ account, setAccount, rentLamports: runtime.rentExemptLamports }),
    account,
    setAccount,
    now: async () => runtime.clock().unixSeconds,
    setTime: async (unixSeconds) => runtime.setClock({ slot: runtime.clock().slot, unixSeconds }),

    async send(instructions, signers = []) {
      const { bytes } = await signTransaction({
        instructions,
        feePayer: payer,
        signers,
        blockhash: BLOCKHASH,
        lookup: undefined,
      });
      const execution = runtime.execute(bytes, true);
      // Decoded on demand.
      readEvents = () => {
        const { keys } = decodeTransaction(bytes);
        return executedEvents(
          execution,
          keys.map((key) => new PublicKey(key)),
        );
      };
      if (execution.err === null) return execution.computeUnits;
      throw new Refusal(nameFailure(refusalText(execution.err)), { cause: execution.logs });
    },

    lastEvents: () => readEvents(),
    // Its memory is freed by the garbage collector.
    close: () => undefined,
  };
}
