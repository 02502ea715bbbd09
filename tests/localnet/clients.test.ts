import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  airdropFactory,
  appendTransactionMessageInstruction,
  createKeyPairSignerFromBytes,
  createSolanaRpc,
  createSolanaRpcSubscriptions,
  createTransactionMessage,
  generateKeyPairSigner,
  getSignatureFromTransaction,
  lamports,
  pipe,
  sendAndConfirmTransactionFactory,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
} from '@solana/kit';
import { Keypair, SystemProgram } from '@solana/web3.js';
import { type LocalnetScene, openLocalnet } from './scene.ts';

let scene: LocalnetScene;
beforeAll(async () => {
  scene = await openLocalnet();
});
afterAll(() => scene.close());

const somebody = () => Keypair.generate().publicKey;

describe('the Connection of web3.js', () => {
  it('gets an answer to every method that it calls', async () => {
    const { connection, payer } = scene;
    const slot = await connection.getSlot();
    const answers = await Promise.all([
      connection.getVersion(),
      connection.getGenesisHash(),
      connection.getEpochInfo(),
      connection.getEpochSchedule(),
      connection.getBlockHeight(),
      connection.getFirstAvailableBlock(),
      connection.getMinimumLedgerSlot(),
      connection.getTransactionCount(),
      connection.getSupply(),
      connection.getLargestAccounts(),
      connection.getClusterNodes(),
      connection.getVoteAccounts(),
      connection.getSlotLeader(),
      connection.getSlotLeaders(slot, 3),
      connection.getLeaderSchedule(),
      connection.getBlockProduction(),
      connection.getInflationGovernor(),
      connection.getInflationRate(),
      connection.getInflationReward([payer.publicKey]),
      connection.getRecentPerformanceSamples(1),
      connection.getRecentPrioritizationFees(),
      connection.getStakeMinimumDelegation(),
      connection.getBlocks(slot - 1, slot),
      connection.getBlock(slot, { maxSupportedTransactionVersion: 0 }),
      connection.getParsedBlock(slot, { maxSupportedTransactionVersion: 0 }),
      connection.getBlockSignatures(slot),
      connection.getMinimumBalanceForRentExemption(100),
      connection.getMultipleParsedAccounts([payer.publicKey, somebody()]),
    ]);
    expect(answers).not.toContain(undefined);
  });
});

describe('@solana/kit', () => {
  it('receives lamports, sends, confirms and reads', async () => {
    const rpc = createSolanaRpc(scene.rpcUrl);
    const rpcSubscriptions = createSolanaRpcSubscriptions(scene.wsUrl);
    const signer = await createKeyPairSignerFromBytes(Keypair.generate().secretKey);
    const { address: to } = await generateKeyPairSigner();
    const airdrop = airdropFactory({ rpc, rpcSubscriptions } as never);
    await airdrop({
      commitment: 'confirmed',
      recipientAddress: signer.address,
      lamports: lamports(1_000_000_000n),
    });
    const { value: lifetime } = await rpc.getLatestBlockhash().send();
    const data = Buffer.alloc(12);
    data.writeUInt32LE(2);
    data.writeBigUInt64LE(5_000_000n, 4);
    const transfer = {
      programAddress: SystemProgram.programId.toBase58(),
      accounts: [
        { address: signer.address, role: 3, signer },
        { address: to, role: 1 },
      ],
      data,
    };
    const message = pipe(
      createTransactionMessage({ version: 0 }),
      (empty) => setTransactionMessageFeePayerSigner(signer, empty),
      (paid) => setTransactionMessageLifetimeUsingBlockhash(lifetime, paid),
      (living) => appendTransactionMessageInstruction(transfer as never, living),
    );
    const transaction = await signTransactionMessageWithSigners(message);
    const send = sendAndConfirmTransactionFactory({ rpc, rpcSubscriptions } as never);
    await send(transaction as never, { commitment: 'confirmed' });
    const { value } = await rpc.getBalance(to, { commitment: 'confirmed' }).send();
    expect(value).toBe(5_000_000n);
    const parsed = await rpc
      .getTransaction(getSignatureFromTransaction(transaction), {
        commitment: 'confirmed',
        encoding: 'json',
        maxSupportedTransactionVersion: 0,
      })
      .send();
    expect(parsed).toMatchObject({ meta: { err: null, fee: 5_000n }, version: 0n });
  });
});
