import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  Keypair,
  PublicKey,
  SystemProgram,
  TransactionInstruction,
  VersionedTransaction,
} from '@solana/web3.js';
import type { AddedAccount, ProgramTestContext, start as startChain } from 'solana-bankrun';
import { TOKEN_PROGRAM } from '../../programs/client/addresses.ts';
import { PROGRAM_ID } from '../../programs/client/index.ts';
import { signTransaction } from '../../programs/client/sender/transaction.ts';
import {
  type Chain,
  createAccountWriters,
  FIRST_SECOND,
  LAMPORTS_PER_SIGNER,
  nameFailure,
  Refusal,
} from './chain.ts';

type Start = typeof startChain;

const CHAINS_MAX = 3;
/** What the runtime says of a program that it could not load; no program answers an empty call so. */
const NOT_LOADED = 'Error processing Instruction 0: invalid account data for instruction';

/**
 * Starts a chain on which the programs that tests call can be called. Now and then, on a busy
 * machine, solana-bankrun does not get a program loaded, and holds on to that: each call of it is
 * refused for as long as the chain is there. No test learns anything from such a chain.
 */
export async function startLoaded(
  start: Start,
  accounts: AddedAccount[],
): Promise<ProgramTestContext> {
  const unloaded: string[] = [];
  for (let started = 1; started <= CHAINS_MAX; started += 1) {
    const context = await start([], accounts);
    const refusal = await refusalToCall(context, [PROGRAM_ID, TOKEN_PROGRAM]);
    if (refusal === null) return context;
    unloaded.push(refusal);
  }
  throw new Error(`solana-bankrun cannot call the program:\n${unloaded.join('\n')}`);
}

/** Calls programs without any data, and leaves no trace: what they answer tells that they run. */
async function refusalToCall(
  { banksClient, lastBlockhash, payer }: ProgramTestContext,
  programIds: readonly PublicKey[],
): Promise<string | null> {
  for (const programId of programIds) {
    const { bytes } = signTransaction({
      instructions: [new TransactionInstruction({ programId, keys: [] })],
      feePayer: payer,
      signers: [],
      blockhash: lastBlockhash,
      lookup: undefined,
    });
    const { result, meta } = await banksClient.simulateTransaction(
      VersionedTransaction.deserialize(bytes),
    );
    if (result === NOT_LOADED) return meta?.logMessages.join('\n') ?? result;
  }
  return null;
}

const ARTIFACT = join(import.meta.dirname, '../../programs/escrow/artifacts/escrow-v0.so');
const OLD_LOADER = new PublicKey('BPFLoader2111111111111111111111111111111111');
const UPGRADEABLE_LOADER = new PublicKey('BPFLoaderUpgradeab1e11111111111111111111111');
const [PROGRAM_DATA] = PublicKey.findProgramAddressSync([PROGRAM_ID.toBytes()], UPGRADEABLE_LOADER);
const ATTEMPTS_MAX = 5;

/**
 * The one key that may initialize the program under the old loader, where solana-bankrun puts it.
 * Everybody can compute it, as `LOCAL_AUTHORITY` in programs/escrow/src/loader.rs says.
 */
export const LOCAL_AUTHORITY = Keypair.fromSeed(
  createHash('sha256')
    .update('svc-inference local authority: public and worthless, for solana-bankrun only')
    .digest(),
);

/**
 * Starts a chain in solana-bankrun, inside this process and in a moment. It runs every rule of the
 * program but two things stay out of sight: it takes the ed25519 precompile's word without looking
 * at the signature, so a forged proof passes; and it does not tell events.
 *
 * @param options.upgradeAuthority puts the program under the upgradeable loader, as clusters do;
 *   without it the old loader has it, and `LOCAL_AUTHORITY` initializes it
 */
export async function startBankrun(
  options: { upgradeAuthority?: PublicKey | null } = {},
): Promise<Chain> {
  const { upgradeAuthority } = options;
  const bankrun = await loadBankrun();
  const context = await startLoaded(
    bankrun.start,
    upgradeAuthority === undefined ? finalProgram() : upgradeableProgram(upgradeAuthority),
  );
  const programData = upgradeAuthority === undefined ? PROGRAM_ID : PROGRAM_DATA;
  const chain = createChain(context, bankrun.Clock, programData);
  await chain.setTime(FIRST_SECOND);
  chain.fund(LOCAL_AUTHORITY.publicKey);
  return chain;
}

type Bankrun = typeof import('solana-bankrun');

/** An optional peer of this package: who only uses the client does not need its binary. */
async function loadBankrun(): Promise<Bankrun> {
  // It reads this when it is loaded, and would print every instruction to standard error.
  process.env.RUST_LOG ??= 'off';
  try {
    return await import('solana-bankrun');
  } catch (cause) {
    const message = "ledger: 'bankrun' asks for it: npm install --save-dev solana-bankrun";
    throw new Error(message, { cause });
  }
}

/**
 * The loader's accounts for a program that nobody can replace.
 *
 * @param data its binary
 */
export function finalProgram(data: Uint8Array = readFileSync(ARTIFACT)): AddedAccount[] {
  const info = { lamports: LAMPORTS_PER_SIGNER, data, owner: OLD_LOADER, executable: true };
  return [{ address: PROGRAM_ID, info }];
}

/** The loader's accounts for a program that `authority` can replace; null: nobody any more. */
function upgradeableProgram(authority: PublicKey | null): AddedAccount[] {
  const owner = UPGRADEABLE_LOADER;
  const program = Buffer.concat([Buffer.from([2, 0, 0, 0]), PROGRAM_DATA.toBytes()]);
  const header = Buffer.alloc(45);
  header.writeUInt32LE(3);
  if (authority !== null) header.set([1, ...authority.toBytes()], 12);
  const data = Buffer.concat([header, readFileSync(ARTIFACT)]);
  return [
    {
      address: PROGRAM_ID,
      info: { lamports: LAMPORTS_PER_SIGNER, data: program, owner, executable: true },
    },
    {
      address: PROGRAM_DATA,
      info: { lamports: LAMPORTS_PER_SIGNER, data, owner, executable: false },
    },
  ];
}

function createChain(
  context: ProgramTestContext,
  Clock: Bankrun['Clock'],
  programData: PublicKey,
): Chain {
  const { banksClient: client, payer } = context;
  let nonce = 0;

  const account: Chain['account'] = (address) => client.getAccount(address);
  const setAccount: Chain['setAccount'] = (address, written) =>
    context.setAccount(address, written);
  return {
    ...createAccountWriters({ account, setAccount }),
    payer,
    authority: LOCAL_AUTHORITY,
    programData,
    setAccount,
    account,
    now: async () => (await client.getClock()).unixTimestamp,

    async setTime(unixSeconds) {
      const { slot, epoch, epochStartTimestamp, leaderScheduleEpoch } = await client.getClock();
      context.setClock(
        new Clock(slot, epochStartTimestamp, epoch, leaderScheduleEpoch, unixSeconds),
      );
    },

    async send(instructions, signers = []) {
      // Bankrun drops a transaction it has seen; a transfer of another amount makes each its own.
      nonce += 1;
      const distinct = SystemProgram.transfer({
        fromPubkey: payer.publicKey,
        toPubkey: payer.publicKey,
        lamports: nonce,
      });
      for (let attempt = 1; ; attempt += 1) {
        const latest = await client.getLatestBlockhash('processed');
        const { bytes } = signTransaction({
          instructions: [...instructions, distinct],
          feePayer: payer,
          signers,
          blockhash: latest?.[0] ?? context.lastBlockhash,
          lookup: undefined,
        });
        const { result, meta } = await client.tryProcessTransaction(
          VersionedTransaction.deserialize(bytes),
        );
        if (result === null) return Number(meta?.computeUnitsConsumed);
        // On a busy machine the chain forgets a blockhash before it is used: nothing was executed.
        if (result !== 'Blockhash not found' || attempt === ATTEMPTS_MAX) {
          throw new Refusal(nameFailure(result), { cause: meta?.logMessages });
        }
      }
    },

    lastEvents() {
      throw new Error("solana-bankrun tells no events: startEscrow({ ledger: 'litesvm' }) does");
    },
    // Bankrun ends with its process and offers no earlier end.
    close: () => undefined,
  };
}
