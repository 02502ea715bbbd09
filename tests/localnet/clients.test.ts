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
import {
  type AccountInfo,
  Keypair,
  type Logs,
  PublicKey,
  SystemProgram,
  sendAndConfirmTransaction,
  Transaction,
} from '@solana/web3.js';
import { withEscrow } from '../../localnet/escrow.ts';
import { UPGRADEABLE_LOADER } from '../../localnet/runtime/deployment.ts';
import { TOKEN_PROGRAM } from '../../programs/client/addresses.ts';
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
const transferTo = (toPubkey: PublicKey, amount = 5_000_000) =>
  SystemProgram.transfer({ fromPubkey: scene.payer.publicKey, toPubkey, lamports: amount });

describe('the Connection of web3.js', () => {
  it.each(['processed', 'confirmed', 'finalized'] as const)(
    'confirms a transaction at commitment %s',
    async (commitment) => {
      const { connection, payer } = scene;
      const to = somebody();
      const transaction = new Transaction().add(transferTo(to));
      const signature = await sendAndConfirmTransaction(connection, transaction, [payer], {
        commitment,
      });
      const lifetime = await connection.getLatestBlockhash();
      const confirmed = await connection.confirmTransaction({ signature, ...lifetime }, commitment);
      expect(confirmed.value.err).toBeNull();
      expect(await connection.getBalance(to, commitment)).toBe(5_000_000);
    },
  );

  it('detects that a transaction has expired', async () => {
    const { connection, payer } = scene;
    const { blockhash, lastValidBlockHeight } = await connection.getLatestBlockhash();
    const transaction = new Transaction().add(transferTo(somebody()));
    transaction.feePayer = payer.publicKey;
    transaction.recentBlockhash = blockhash;
    transaction.sign(payer);
    const signature = anchor.utils.bytes.bs58.encode(transaction.signature as Buffer);
    await scene.ask('localnet_skipSlots', 20_000);
    await expect(
      connection.confirmTransaction({ signature, blockhash, lastValidBlockHeight }),
    ).rejects.toThrow('block height exceeded');
  });

  it('receives notifications of accounts, logs, programs, signatures and slots', async () => {
    const { connection } = scene;
    const to = somebody();
    const account = Promise.withResolvers<AccountInfo<Buffer>>();
    const logs = Promise.withResolvers<Logs>();
    const ofProgram = Promise.withResolvers<PublicKey>();
    const slot = Promise.withResolvers<number>();
    const filters = [{ dataSize: 0 }];
    const ids = [
      connection.onAccountChange(to, account.resolve, { commitment: 'confirmed' }),
      connection.onLogs(to, logs.resolve, 'confirmed'),
      connection.onProgramAccountChange(
        SystemProgram.programId,
        ({ accountId }) => accountId.equals(to) && ofProgram.resolve(accountId),
        { commitment: 'confirmed', filters },
      ),
      connection.onSlotChange((change) => slot.resolve(change.slot)),
    ] as const;
    // Once it hears of slots, it hears of the others too: they were asked for before.
    expect(await slot.promise).toBeGreaterThan(0);
    const signature = await scene.transfer(to, 5_000_000);
    expect((await account.promise).lamports).toBe(5_000_000);
    expect(await logs.promise).toMatchObject({ err: null, signature });
    expect((await ofProgram.promise).equals(to)).toBe(true);
    const heard = Promise.withResolvers<unknown>();
    connection.onSignature(signature, heard.resolve, 'confirmed');
    expect(await heard.promise).toEqual({ err: null });
    await connection.removeAccountChangeListener(ids[0]);
    await connection.removeOnLogsListener(ids[1]);
    await connection.removeProgramAccountChangeListener(ids[2]);
    await connection.removeSlotChangeListener(ids[3]);
  });

  it('reads parsed transactions and token accounts', async () => {
    const { connection, rpc, payer } = scene;
    const mint = Keypair.generate();
    await createMint({ rpc, authority: payer }, mint);
    const owner = somebody();
    await scene.ask('localnet_mintTokens', mint.publicKey.toBase58(), owner.toBase58(), 1_500_000);
    const { value } = await connection.getParsedTokenAccountsByOwner(owner, {
      programId: TOKEN_PROGRAM,
    });
    expect(value.map(({ account }) => account.data.parsed.info)).toMatchObject([
      { mint: mint.publicKey.toBase58(), tokenAmount: { amount: '1500000' } },
    ]);
    const to = somebody();
    const signature = await scene.transfer(to, 5_000_000);
    const parsed = await connection.getParsedTransaction(signature, {
      maxSupportedTransactionVersion: 0,
    });
    expect(parsed?.transaction.message.instructions).toMatchObject([
      { parsed: { info: { destination: to.toBase58(), lamports: 5_000_000 }, type: 'transfer' } },
    ]);
    const [listed] = await connection.getSignaturesForAddress(to);
    expect(listed?.signature).toBe(signature);
  });

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
    const { value: info } = await rpc
      .getAccountInfo(to, { commitment: 'confirmed', encoding: 'base64' })
      .send();
    expect(info).toMatchObject({ lamports: 5_000_000n, space: 0n });
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
