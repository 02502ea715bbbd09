import anchor from '@coral-xyz/anchor';
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
import { Keypair, PublicKey, SystemProgram } from '@solana/web3.js';
import { withEscrow } from '../../localnet/escrow.ts';
import { UPGRADEABLE_LOADER } from '../../localnet/runtime/deployment.ts';
import { createAddresses, IDL, PROGRAM_ID } from '../../programs/client/index.ts';
import { createMint } from '../../stack/operator.ts';
import { type LocalnetScene, openLocalnet } from './scene.ts';

let scene: LocalnetScene;
/** The program's upgrade authority. */
const operator = Keypair.generate();
beforeAll(async () => {
  // web3.js signs with one blockhash for half a minute.
  const blockhashMs = 60_000;
  scene = await openLocalnet({ ...withEscrow({ payer: operator.publicKey }), blockhashMs });
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

describe('Anchor’s provider', () => {
  it('sends an instruction of the escrow and reads its accounts', async () => {
    const { connection, rpc } = scene;
    const provider = new anchor.AnchorProvider(connection, new anchor.Wallet(operator), {
      commitment: 'confirmed',
      preflightCommitment: 'confirmed',
    });
    const program = new anchor.Program(IDL, provider);
    const [credit, stake] = [Keypair.generate(), Keypair.generate()];
    for (const mint of [credit, stake]) {
      await createMint({ rpc, authority: operator }, mint);
    }
    const loader = new PublicKey(UPGRADEABLE_LOADER);
    const [programData] = PublicKey.findProgramAddressSync([PROGRAM_ID.toBytes()], loader);
    const arbiter = somebody();
    const initialize = program.methods.configInitialize as (...given: unknown[]) => {
      accounts(of: object): { rpc(): Promise<string> };
    };
    const signature = await initialize(
      ...[arbiter, 1_500, 172_800, 5, new anchor.BN(1_000), 500],
      ...[new anchor.BN(100_000), new anchor.BN(1_000_000_000), new anchor.BN(0)],
    )
      .accounts({
        authority: operator.publicKey,
        creditMint: credit.publicKey,
        stakeMint: stake.publicKey,
        programData,
      })
      .rpc();
    expect((await connection.getSignatureStatus(signature)).value?.err).toBeNull();
    const accounts = program.account as Record<
      string,
      { all(): Promise<object[]>; fetch(address: PublicKey): Promise<object> }
    >;
    const { config } = createAddresses();
    expect(await accounts.config?.fetch(config)).toMatchObject({ arbiter });
    expect(await accounts.config?.all()).toMatchObject([{ publicKey: config }]);
  });
});
