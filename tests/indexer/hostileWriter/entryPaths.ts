import {
  type AddressLookupTableAccount,
  AddressLookupTableProgram,
  type Keypair,
  type PublicKey,
  SystemProgram,
  type TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
  type VersionedTransactionResponse,
} from '@solana/web3.js';
import { delay } from '../../../common/wait.ts';
import { TOKEN_PROGRAM } from '../../../programs/client/addresses.ts';
import { PROGRAM_ID } from '../../../programs/client/index.ts';
import { addresses, type Scene } from '../../../testing/indexer/scene.ts';
import {
  callThrough,
  HOSTILE_PROGRAM_ID,
  HOSTILE_SIGNER,
} from '../../../testing/ledger/hostileCaller.ts';
import type { TestLedger } from '../../../testing/ledger/ledger.ts';
import { until } from '../../../testing/until.ts';

const POLL_MS = 20;

/** How a message spells its accounts: as ever, or as v0 with these lookup tables. */
type Form = 'legacy' | AddressLookupTableAccount[];

/** A way for a stranger's instructions to reach the program. */
export interface EntryPath {
  readonly name: string;
  /** One transaction, which the ledger's payer pays. @returns what became of it, be it a failure */
  send(
    instructions: TransactionInstruction[],
    signers?: Keypair[],
  ): Promise<VersionedTransactionResponse>;
}

export interface Roads {
  readonly entryPaths: readonly EntryPath[];
  /**
   * Only a lookup table names the program. Clusters list such transactions among the program's; the
   * local ledger does not.
   */
  readonly hidden: EntryPath;
}

/** Every way there is. */
export async function createEntryPaths(scene: Scene): Promise<Roads> {
  const { config, treasury, vaultAuthority, vault, treasuryVault, stakeVault, eventAuthority } =
    addresses;
  const shared = await createTable(scene, [
    ...[config, treasury, vaultAuthority, vault, treasuryVault, stakeVault, eventAuthority],
    ...[HOSTILE_PROGRAM_ID, HOSTILE_SIGNER, TOKEN_PROGRAM, SystemProgram.programId],
  ]);
  const program = await createTable(scene, [PROGRAM_ID]);
  const entryPath = (name: string, form: Form, calls: number): EntryPath => ({
    name,
    send: (instructions, signers = []) =>
      land(scene.ledger, form, wrap(instructions, calls), signers),
  });
  return {
    entryPaths: [
      entryPath('legacy', 'legacy', 0),
      entryPath('legacy, called', 'legacy', 1),
      entryPath('v0', [], 0),
      entryPath('v0, called', [], 1),
      entryPath('v0 with a lookup table', [shared], 0),
      entryPath('v0 with a lookup table, called', [shared], 1),
      entryPath('v0 with a lookup table, called by what was called', [shared], 2),
    ],
    hidden: entryPath('hidden', [shared, program], 1),
  };
}

/** Makes the hostile program call them, as often removed as asked. */
function wrap(instructions: TransactionInstruction[], calls: number): TransactionInstruction[] {
  return calls === 0 ? instructions : wrap([callThrough(...instructions)], calls - 1);
}

async function createTable(
  { ledger: { connection, payer }, send }: Scene,
  named: PublicKey[],
): Promise<AddressLookupTableAccount> {
  const [create, lookupTable] = AddressLookupTableProgram.createLookupTable({
    ...{ authority: payer.publicKey, payer: payer.publicKey },
    recentSlot: await connection.getSlot('finalized'),
  });
  const extend = AddressLookupTableProgram.extendLookupTable({
    ...{ lookupTable, authority: payer.publicKey, payer: payer.publicKey, addresses: named },
  });
  await send([create, extend], []);
  const { value } = await connection.getAddressLookupTable(lookupTable);
  if (!value) throw new Error('the lookup table was made');
  // It can be used from the next slot on.
  await until(async () => (await connection.getSlot()) > value.state.lastExtendedSlot);
  return value;
}

/** Sends a transaction again as long as the ledger drops it, which it does under load. */
async function land(...sent: Parameters<typeof sendOnce>): Promise<VersionedTransactionResponse> {
  for (;;) {
    const landed = await sendOnce(...sent);
    if (landed) return landed;
  }
}

/** @returns null when its blockhash is dead and it will not land any more */
async function sendOnce(
  { connection, payer }: TestLedger,
  form: Form,
  instructions: TransactionInstruction[],
  signers: Keypair[],
): Promise<VersionedTransactionResponse | null> {
  const { blockhash, lastValidBlockHeight } = await connection.getLatestBlockhash('confirmed');
  const message = new TransactionMessage({
    ...{ payerKey: payer.publicKey, recentBlockhash: blockhash, instructions },
  });
  const transaction = new VersionedTransaction(
    form === 'legacy' ? message.compileToLegacyMessage() : message.compileToV0Message(form),
  );
  transaction.sign([payer, ...signers]);
  const signature = await connection.sendTransaction(transaction, { skipPreflight: true });
  for (;;) {
    const isDead = (await connection.getBlockHeight('confirmed')) > lastValidBlockHeight;
    const landed = await connection.getTransaction(signature, {
      ...{ commitment: 'confirmed', maxSupportedTransactionVersion: 0 },
    });
    if (landed || isDead) return landed;
    await delay(POLL_MS);
  }
}
