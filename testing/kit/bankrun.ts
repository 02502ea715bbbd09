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
import type { AddedAccount, ProgramTestContext, Rent, start as startChain } from 'solana-bankrun';
import { findAddress, TOKEN_PROGRAM } from '../../programs/client/addresses.ts';
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
/** The runtime's errors for a program that is not loaded; no program returns them for an empty call. */
const NOT_LOADED = 'Error processing Instruction 0: invalid account data for instruction';

/**
 * Starts a chain with all its programs loaded. On a busy machine solana-bankrun sometimes fails to
 * load a program, and then refuses every call of it. Such a chain is replaced.
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

/** Calls programs without data and without effect: their answers show that they run. */
async function refusalToCall(
  { banksClient, lastBlockhash, payer }: ProgramTestContext,
  programIds: readonly PublicKey[],
): Promise<string | null> {
  for (const programId of programIds) {
    const { bytes } = await signTransaction({
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
const PROGRAM_DATA = findAddress([PROGRAM_ID.toBytes()], UPGRADEABLE_LOADER);
const ATTEMPTS_MAX = 5;

/**
 * The only key that may initialize the program under the old loader, which solana-bankrun uses. It is
 * public: see `LOCAL_AUTHORITY` in programs/escrow/src/loader.rs.
 */
export const localAuthority = async (): Promise<Keypair> =>
  Keypair.fromSeed(
    createHash('sha256')
      .update('svc-inference local authority: public and worthless, for solana-bankrun only')
      .digest(),
  );

/**
 * Starts a chain in solana-bankrun, inside this process. It runs every rule of the program, and returns
 * no events.
 *
 * @param options.upgradeAuthority deploys the program with the upgradeable loader, as on clusters;
 *   without it the old loader is used, and `localAuthority` initializes the program
 */
export async function startBankrun(
  options: { upgradeAuthority?: PublicKey | null } = {},
): Promise<Chain> {
  const { upgradeAuthority } = options;
  // It reads this variable when it is loaded. By default it prints every instruction.
  process.env.RUST_LOG ??= 'off';
  const bankrun = await import('solana-bankrun');
  const context = await startLoaded(
    bankrun.start,
    upgradeAuthority === undefined ? finalProgram() : upgradeableProgram(upgradeAuthority),
  );
  const programData = upgradeAuthority === undefined ? PROGRAM_ID : PROGRAM_DATA;
  const [authority, payer, rent] = await Promise.all([
    localAuthority(),
    // It brings a web3.js of its own, whose keys are of another class than those here may be.
    Keypair.fromSecretKey(context.payer.secretKey),
    context.banksClient.getRent(),
  ]);
  const chain = createChain(context, bankrun.Clock, rent, { authority, payer, programData });
  await chain.setTime(FIRST_SECOND);
  chain.fund(authority.publicKey);
  return chain;
}

type Bankrun = typeof import('solana-bankrun');

/**
 * The loader's accounts for a program that cannot be upgraded.
 *
 * @param data the program's binary
 */
export function finalProgram(data: Uint8Array = readFileSync(ARTIFACT)): AddedAccount[] {
  const info = { lamports: LAMPORTS_PER_SIGNER, data, owner: OLD_LOADER, executable: true };
  return [{ address: PROGRAM_ID, info }];
}

/** The loader's accounts for a program that `authority` can upgrade; null: it is final. */
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
  rent: Rent,
  keys: Pick<Chain, 'authority' | 'payer' | 'programData'>,
): Chain {
  const { banksClient: client } = context;
  const { payer } = keys;
  let nonce = 0;

  const account: Chain['account'] = async (address) => {
    const found = await client.getAccount(address);
    return found && { ...found, owner: new PublicKey(found.owner.toBytes()) };
  };
  const setAccount: Chain['setAccount'] = (address, written) =>
    context.setAccount(address, written);
  return {
    ...createAccountWriters({
      account,
      setAccount,
      rentLamports: (dataBytes) => rent.minimumBalance(BigInt(dataBytes)),
    }),
    ...keys,
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
      // Bankrun drops repeated transactions; a transfer of another amount makes each one different.
      nonce += 1;
      const distinct = SystemProgram.transfer({
        fromPubkey: payer.publicKey,
        toPubkey: payer.publicKey,
        lamports: nonce,
      });
      for (let attempt = 1; ; attempt += 1) {
        const latest = await client.getLatestBlockhash('processed');
        const { bytes } = await signTransaction({
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
        // On a busy machine the blockhash may expire before its use; then nothing was executed.
        if (result !== 'Blockhash not found' || attempt === ATTEMPTS_MAX) {
          throw new Refusal(nameFailure(result), { cause: meta?.logMessages });
        }
      }
    },

    lastEvents() {
      throw new Error("solana-bankrun has no events: startEscrow({ ledger: 'litesvm' }) does");
    },
    // Bankrun can only end with its process.
    close: () => undefined,
  };
}
