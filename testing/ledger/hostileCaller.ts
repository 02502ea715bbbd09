import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import {
  type AccountInfo,
  type AccountMeta,
  Keypair,
  PublicKey,
  TransactionInstruction,
} from '@solana/web3.js';
import { artifactPath } from '../../programs/tools/artifacts.ts';
import { writeAccount } from './ledger.ts';

/** The address of the hostile program (programs/hostile) in tests. */
export const HOSTILE_PROGRAM_ID = Keypair.fromSeed(
  createHash('sha256').update('the hostile program').digest(),
).publicKey;

const [signer, SIGNER_BUMP] = PublicKey.findProgramAddressSync(
  [Buffer.from('signer')],
  HOSTILE_PROGRAM_ID,
);
/** The address that the hostile program signs for. A wallet may be such an address. */
export const HOSTILE_SIGNER = signer;

const FINAL_LOADER = new PublicKey('BPFLoader2111111111111111111111111111111111');
const LAMPORTS = 1_000_000_000;
const IS_SIGNER = 1;
const IS_WRITABLE = 2;

/** The hostile program's account, for a ledger with writable accounts. */
export const hostileProgram = (): AccountInfo<Uint8Array> => ({
  lamports: LAMPORTS,
  data: readFileSync(artifactPath('hostile', 'v3')),
  owner: FINAL_LOADER,
  executable: true,
});

/** Puts the hostile program on a local ledger. */
export async function deployHostileProgram({ rpcUrl }: { rpcUrl: string }): Promise<void> {
  await writeAccount(rpcUrl, HOSTILE_PROGRAM_ID, hostileProgram());
}

/**
 * One instruction in which the hostile program makes these calls in order. It signs for
 * HOSTILE_SIGNER where a call requires that signature; every other signer of a call must sign the
 * transaction. A call may itself be of the hostile program.
 */
export function callThrough(...calls: TransactionInstruction[]): TransactionInstruction {
  const accounts = new Map<string, AccountMeta>();
  const note = ({ pubkey, isSigner, isWritable }: AccountMeta): void => {
    const known = accounts.get(pubkey.toBase58());
    accounts.set(pubkey.toBase58(), {
      pubkey,
      isSigner: known?.isSigner || (isSigner && !pubkey.equals(HOSTILE_SIGNER)),
      isWritable: known?.isWritable || isWritable,
    });
  };
  for (const { programId, keys } of calls) {
    for (const key of keys) note(key);
    note({ pubkey: programId, isSigner: false, isWritable: false });
  }
  const places = new Map([...accounts.keys()].map((key, place) => [key, place]));
  const placeOf = (key: PublicKey): number => places.get(key.toBase58()) ?? 0;
  return new TransactionInstruction({
    programId: HOSTILE_PROGRAM_ID,
    keys: [...accounts.values()],
    data: Buffer.concat(calls.map((call) => encodeCall(call, placeOf))),
  });
}

/** One call as programs/hostile/src/lib.rs reads it. */
function encodeCall(
  { programId, keys, data }: TransactionInstruction,
  placeOf: (key: PublicKey) => number,
): Uint8Array {
  const signs = keys.some(({ pubkey, isSigner }) => isSigner && pubkey.equals(HOSTILE_SIGNER));
  const length = Buffer.alloc(2);
  length.writeUInt16LE(data.length);
  const accounts = keys.flatMap(({ pubkey, isSigner, isWritable }) => [
    placeOf(pubkey),
    (isSigner ? IS_SIGNER : 0) | (isWritable ? IS_WRITABLE : 0),
  ]);
  const head = [placeOf(programId), signs ? SIGNER_BUMP : 0, keys.length, ...accounts];
  return Buffer.concat([Buffer.from(head), length, data]);
}
