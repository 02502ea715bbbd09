import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Keypair, PublicKey, SystemProgram, VersionedTransaction } from '@solana/web3.js';
import type { AddedAccount, ProgramTestContext } from 'solana-bankrun';
import { PROGRAM_ID } from '../programs/client/index.ts';
import { signTransaction } from '../programs/client/sender/transaction.ts';
import { createAccountWriters, LAMPORTS_PER_SIGNER } from './accountWriters.ts';
import { startLoaded } from './bankrunStart.ts';
import { type Chain, FIRST_SECOND, nameFailure, Refusal } from './chain.ts';

const ARTIFACT = join(import.meta.dirname, '../programs/escrow/artifacts/escrow-v0.so');
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
