import { afterAll, afterEach, describe, expect, it } from '@jest/globals';
import {
  Keypair,
  PublicKey,
  SYSVAR_CLOCK_PUBKEY,
  SYSVAR_RENT_PUBKEY,
  SystemProgram,
  TransactionInstruction,
} from '@solana/web3.js';
import { UPGRADEABLE_LOADER } from '../../localnet/runtime/deployment.ts';
import { type LocalnetScene, newFolder, openLocalnet, removeFolders } from './scene.ts';

const LOADER = new PublicKey(UPGRADEABLE_LOADER);
/** A small program, whose account is its binary. */
const MEMO = new PublicKey('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr');
const CHUNK_BYTES = 900;
const BUFFER_HEADER_BYTES = 37;
const PROGRAM_BYTES = 36;
/** The loader's instructions, by their number. */
const [INITIALIZE_BUFFER, WRITE, DEPLOY] = [0, 1, 2];

let scene: LocalnetScene;
afterEach(() => scene.close());
afterAll(removeFolders);

async function send(instructions: TransactionInstruction[], signers: Keypair[] = []) {
  const { wire } = await scene.sign(instructions, { signers });
  return scene.ask('sendTransaction', wire.toString('base64'), { encoding: 'base64' });
}

const account = (pubkey: PublicKey, isWritable = false, isSigner = false) => ({
  pubkey,
  isWritable,
  isSigner,
});

function loader(keys: TransactionInstruction['keys'], ...parts: (number | bigint | Uint8Array)[]) {
  const data = parts.map((part) => {
    if (part instanceof Uint8Array) return part;
    const bytes = Buffer.alloc(typeof part === 'bigint' ? 8 : 4);
    if (typeof part === 'bigint') bytes.writeBigUInt64LE(part);
    else bytes.writeUInt32LE(part);
    return bytes;
  });
  return new TransactionInstruction({ programId: LOADER, keys, data: Buffer.concat(data) });
}

/** As command-line tools do: a buffer, its bytes in many transactions, then the program. */
async function deploy(elf: Uint8Array): Promise<PublicKey> {
  const [buffer, program] = [Keypair.generate(), Keypair.generate()];
  const { publicKey: payer } = scene.payer;
  const create = async (newAccountPubkey: PublicKey, space: number) =>
    SystemProgram.createAccount({
      fromPubkey: payer,
      newAccountPubkey,
      space,
      programId: LOADER,
      lamports: await scene.connection.getMinimumBalanceForRentExemption(space),
    });
  const ofBuffer = [account(buffer.publicKey, true), account(payer, false, true)];
  await send(
    [
      await create(buffer.publicKey, BUFFER_HEADER_BYTES + elf.length),
      loader(ofBuffer, INITIALIZE_BUFFER),
    ],
    [buffer],
  );
  for (let at = 0; at < elf.length; at += CHUNK_BYTES) {
    const part = elf.subarray(at, at + CHUNK_BYTES);
    await send([loader(ofBuffer, WRITE, at, BigInt(part.length), part)]);
  }
  const [programData] = PublicKey.findProgramAddressSync([program.publicKey.toBytes()], LOADER);
  const keys = [
    account(payer, true, true),
    account(programData, true),
    account(program.publicKey, true),
    account(buffer.publicKey, true),
    account(SYSVAR_RENT_PUBKEY),
    account(SYSVAR_CLOCK_PUBKEY),
    account(SystemProgram.programId),
    account(payer, false, true),
  ];
  await send(
    [await create(program.publicKey, PROGRAM_BYTES), loader(keys, DEPLOY, BigInt(elf.length))],
    [program],
  );
  return program.publicKey;
}

describe('a program', () => {
  it('can be deployed with the loader, and called before and after a restart', async () => {
    const folder = newFolder();
    scene = await openLocalnet({ folder });
    const memo = await scene.connection.getAccountInfo(MEMO);
    if (!memo) throw new Error('there is no memo program');
    const programId = await deploy(memo.data);
    const call = () =>
      send([new TransactionInstruction({ programId, keys: [], data: Buffer.from('hello') })]);
    // It can be called from the next slot on.
    await scene.ask('localnet_skipSlots', 2);
    expect(await call()).toEqual(expect.any(String));
    await scene.close();

    scene = await openLocalnet({ folder });
    expect(await call()).toEqual(expect.any(String));
  });
});
