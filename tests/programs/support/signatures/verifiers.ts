import { createPublicKey, verify } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { ed25519 } from '@noble/curves/ed25519.js';
import { base64urlnopad } from '@scure/base';
import {
  Ed25519Program,
  type Keypair,
  PublicKey,
  type TransactionInstruction,
} from '@solana/web3.js';
import { deployProgram } from '../../../../localnet/runtime/deployment.ts';
import {
  createRuntime,
  RENT_EPOCH_NEVER,
  type Runtime,
} from '../../../../localnet/runtime/runtime.ts';
import type { TransactionError } from '../../../../localnet/runtime/transactionError.ts';
import { EscrowErrorCode, PROGRAM_ID, verifyHashed } from '../../../../programs/client/index.ts';
import * as browser from '../../../../programs/client/platform/browser.ts';
import { sha256 } from '../../../../programs/client/platform/node.ts';
import { signTransaction } from '../../../../programs/client/sender/transaction.ts';
import { artifactPath } from '../../../../programs/tools/artifacts.ts';
import { type ChainAccount, Refusal } from '../../../../testing/kit/chain.ts';
import type { Asked, Scene } from './scene.ts';
import type { Signed } from './signers.ts';

/** Whether a signature is accepted. */
type Verifier = (signed: Signed) => boolean;

/**
 * The client's two builds, and OpenSSL as it is. ZIP 215 takes every signature whose equation holds
 * when it is multiplied by 8, in any encoding.
 */
export function createClientVerifiers({ messageOf }: Scene) {
  return {
    client: ({ key, commitment, signature }) =>
      verifyHashed({ publicKey: new PublicKey(key), message: messageOf(commitment), signature }),
    browser: ({ key, commitment, signature }) =>
      browser.verifySignature({
        publicKey: new PublicKey(key),
        message: sha256(messageOf(commitment)),
        signature,
      }),
    OpenSSL: ({ key, commitment, signature }) =>
      verify(null, sha256(messageOf(commitment)), openSslKey(key), signature),
    'ZIP 215': ({ key, commitment, signature }) =>
      ed25519.verify(signature, sha256(messageOf(commitment)), key, { zip215: true }),
  } satisfies Record<string, Verifier>;
}

const openSslKey = (key: Uint8Array) =>
  createPublicKey({
    format: 'jwk',
    key: { kty: 'OKP', crv: 'Ed25519', x: base64urlnopad.encode(key) },
  });

/** Stand where the parts of a signature come. */
const NO_KEY = new Uint8Array(32).fill(1);
const NO_SIGNATURE = new Uint8Array(64).fill(2);
const NO_MESSAGE = new Uint8Array(32).fill(3);
/** The precompile's numbers for a key and a signature that are none. */
const PRECOMPILE_REFUSALS = [0, 2];

/**
 * The program and the runtime's precompile. Both are asked without effect, by a transaction that is
 * made once: only the bytes of the signature change.
 */
export async function createLedgerVerifiers(scene: Scene) {
  const { payer } = scene.world.chain;
  const none = { commitment: NO_MESSAGE, signature: NO_SIGNATURE };
  const [prove, complete] = [scene.instruction('prove', none), scene.instruction('complete', none)];
  const runtime = await openRuntime(scene, [prove, complete]);

  /** The answer to the transaction of an instruction, with these bytes in place of others. */
  const prepare = async (instruction: TransactionInstruction, signers: Keypair[] = []) => {
    const { bytes } = await signTransaction({
      ...{ instructions: [instruction], feePayer: payer, signers },
      ...{ blockhash: PublicKey.default.toBase58(), lookup: undefined },
    });
    const wire = Buffer.from(bytes);
    const dataAt = wire.indexOf(instruction.data);
    const placeOf = (part: Uint8Array): number => dataAt + instruction.data.indexOf(part);
    const ask = (): TransactionError | null =>
      runtime.simulate(wire, { isLegacy: true, verifiesSignatures: false }).err;
    return { wire, placeOf, ask };
  };

  const program = async (instruction: TransactionInstruction, signers?: Keypair[]) => {
    const { wire, placeOf, ask } = await prepare(instruction, signers);
    const [commitmentAt, signatureAt] = [placeOf(NO_MESSAGE), placeOf(NO_SIGNATURE)];
    return ({ key, commitment, signature }: Signed): boolean => {
      write(runtime, scene.world.worker, scene.workerWith(key));
      wire.set(commitment, commitmentAt);
      wire.set(signature, signatureAt);
      return isAccepted(ask(), [EscrowErrorCode.SignatureInvalid]);
    };
  };

  const parts = { publicKey: NO_KEY, message: NO_MESSAGE, signature: NO_SIGNATURE };
  const { wire, placeOf, ask } = await prepare(
    Ed25519Program.createInstructionWithPublicKey(parts),
  );
  const [keyAt, messageAt, signatureAt] = [NO_KEY, NO_MESSAGE, NO_SIGNATURE].map(placeOf);
  return {
    prove: await program(prove),
    complete: await program(complete, [scene.world.hotSigner]),
    precompile({ key, commitment, signature }) {
      wire.set(key, keyAt);
      wire.set(sha256(scene.messageOf(commitment)), messageAt);
      wire.set(signature, signatureAt);
      return isAccepted(ask(), PRECOMPILE_REFUSALS);
    },
  } satisfies Record<Asked | 'precompile', Verifier>;
}

/**
 * Sends a signature to the program.
 *
 * @returns the compute units; undefined when it refuses the signature
 */
export type Send = (asked: Asked, signed: Signed) => Promise<number | undefined>;

/** Every signature meets the same accounts. */
export async function createSend({ world, job, ...scene }: Scene): Promise<Send> {
  const { chain, creditAccount, hotSigner, worker } = world;
  const credits = await chain.account(creditAccount);
  if (credits === null) throw new Error('the wallet has no credits');
  const empty = await chain.send([]);
  return async (asked, signed) => {
    chain.setAccount(worker, scene.workerWith(signed.key));
    chain.setAccount(job.address, job.account);
    chain.setAccount(creditAccount, credits);
    const instruction = scene.instruction(asked, signed);
    try {
      const units = await chain.send([instruction], asked === 'complete' ? [hotSigner] : []);
      return units - empty;
    } catch (error) {
      if (error instanceof Refusal && error.message === 'SignatureInvalid') return undefined;
      throw error;
    }
  };
}

/** A runtime with the program and the accounts that the instructions name. */
async function openRuntime(
  { world: { chain } }: Scene,
  instructions: readonly TransactionInstruction[],
): Promise<Runtime> {
  const runtime = createRuntime();
  runtime.setClock({ slot: 1n, unixSeconds: await chain.now() });
  deployProgram(runtime, {
    programId: PROGRAM_ID.toBytes(),
    programData: chain.programData.toBytes(),
    elf: readFileSync(artifactPath('escrow', 'v3')),
    upgradeAuthority: null,
  });
  const named = instructions.flatMap(({ keys }) => keys.map(({ pubkey }) => pubkey));
  for (const address of [chain.payer.publicKey, ...named]) {
    const account = await chain.account(address);
    if (account !== null && !account.executable) write(runtime, address, account);
  }
  return runtime;
}

function write(runtime: Runtime, address: PublicKey, account: ChainAccount): void {
  const { lamports, data, owner, executable } = account;
  runtime.setAccount(address.toBytes(), {
    ...{ lamports: BigInt(lamports), data, owner: owner.toBytes(), executable },
    rentEpoch: RENT_EPOCH_NEVER,
  });
}

/** @throws Error for a refusal of anything but the signature */
function isAccepted(error: TransactionError | null, refusals: readonly number[]): boolean {
  if (error === null) return true;
  const cause =
    typeof error === 'object' && 'InstructionError' in error && error.InstructionError[1];
  if (typeof cause === 'object' && refusals.includes(cause.Custom)) return false;
  throw new Error(`asked about a signature, the ledger answered ${JSON.stringify(error)}`);
}
