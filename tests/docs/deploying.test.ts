import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { base58 } from '@scure/base';
import { Keypair, LAMPORTS_PER_SOL, Message, Transaction } from '@solana/web3.js';
import {
  createAddresses,
  fetchConfig,
  fetchCreditAccount,
  fetchGateway,
  fetchJob,
  fetchModel,
  fetchTreasury,
  fetchWorker,
  gatewaySigners,
  PROGRAM_ID,
  type SignedMessage,
  workerModels,
} from '../../programs/client/index.ts';
import { tokenMintTo } from '../../programs/client/token/instructions.ts';
import { openGateway } from '../../stack/bootstrap.ts';
import { createMint, mintTo, submit } from '../../stack/operator.ts';
import { runCli } from '../../testing/cli.ts';
import { createScene, type Scene } from '../../testing/indexer/scene.ts';
import { conflictingProofs } from '../../testing/kit/jobInstructions.ts';
import { advanceToVerdict } from '../../testing/ledger/disputes.ts';
import { LONG_BLOCKHASH_MS, startLedger, type TestLedger } from '../../testing/ledger/ledger.ts';
import { runScript } from '../../testing/machine/shell.ts';
import { checkout, codeBlocks, readDocuments } from './documents.ts';

const addresses = createAddresses();
const documents = readDocuments();

/** The commands of both pages that send an instruction or check the program, in their order. */
const commands = ['docs/deploying.md', 'docs/operating.md']
  .flatMap((path) => documents.filter((document) => document.path === path))
  .flatMap((document) => codeBlocks(document, ['sh']))
  .flatMap((block) => block.replaceAll('\\\n', ' ').split('\n'))
  .filter((line) => /^npx svc (?:send|audit) /.test(line));

/** What stands before a command, so that a shell reads it as it is written and prints its words. */
const PRELUDE = `
set -eu
npx() { shift; printf '%s\\0' "$@"; }
solana() { cat "$3.address"; }
`;

/** A folder with keypair files by the names that the pages use. */
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'deploying-'));
  mkdirSync(join(folder, 'keys'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const keep = (name: string, key: Keypair): void => {
  const path = join(folder, 'keys', name);
  writeFileSync(path, JSON.stringify([...key.secretKey]), { mode: 0o600 });
  writeFileSync(`${path}.address`, key.publicKey.toBase58());
};

const keepSigned = (name: string, { publicKey, message, signature }: SignedMessage): void =>
  writeFileSync(
    join(folder, name),
    JSON.stringify({
      public_key: publicKey.toBase58(),
      message: Buffer.from(message).toString('hex'),
      signature: base58.encode(signature),
    }),
  );

/** Runs one command, whose words a shell has made out. @returns what it prints */
const run = async (command: string, names: Record<string, string>): Promise<string> => {
  const words = await runScript(PRELUDE + command, {
    cwd: folder,
    env: { PATH: process.env.PATH, PROGRAM: PROGRAM_ID.toBase58(), ...names },
  });
  const { code, output, error } = await runCli(words.split('\0').slice(0, -1), { cwd: folder });
  if (code !== 0) throw new Error(error);
  return output.trim();
};

const isVerdict = (command: string): boolean =>
  /send (?:dispute_resolve|worker_suspend|slash_burn)/.test(command);

describe('the commands of docs/deploying.md and docs/operating.md', () => {
  let ledger: TestLedger;
  beforeAll(async () => {
    ledger = await startLedger({ blockhashMs: LONG_BLOCKHASH_MS });
  });
  afterAll(() => ledger.close());

  it('deploy a program, hand it over, and run it', async () => {
    // given a deployed program, its mints, and the keys that the document names
    const { connection, payer, rpc, rpcUrl } = ledger;
    const operator = { rpc, authority: payer };
    const coldKey = (name: string): Keypair => {
      const made = Keypair.generate();
      keep(name, made);
      return made;
    };
    const key = async (name: string): Promise<Keypair> => {
      const made = coldKey(name);
      await ledger.fundLamports(made.publicKey, LAMPORTS_PER_SOL);
      return made;
    };
    keep('upgrade-authority.json', payer);
    const vault = await key('authority.json');
    const gatewayOperator = coldKey('gateway-operator.json');
    const wallet = await key('wallet.json');
    const workerAuthority = await key('worker-authority.json');
    await key('crank.json');
    for (const name of ['hot-signer.json', 'proof-key.json']) coldKey(name);
    const newProofKey = coldKey('new-proof-key.json');
    const arbiter = coldKey('arbiter.json').publicKey;
    const [credit, stake] = [Keypair.generate(), Keypair.generate()];
    await Promise.all([createMint(operator, credit), createMint(operator, stake)]);
    const own = { owner: workerAuthority.publicKey };
    const payout = mintTo(operator, { mint: credit.publicKey, ...own, baseUnits: 0n });
    const staked = mintTo(operator, { mint: stake.publicKey, ...own, baseUnits: 10n ** 10n });
    const purse = mintTo(operator, {
      mint: credit.publicKey,
      owner: payer.publicKey,
      baseUnits: 0n,
    });
    const savings = mintTo(operator, {
      mint: credit.publicKey,
      owner: wallet.publicKey,
      baseUnits: 10n ** 9n,
    });
    await submit(
      operator,
      [payout, staked, purse, savings].flatMap(({ instructions }) => instructions),
    );
    mkdirSync(join(folder, 'escrow-build'));
    const artifact = join(checkout, 'programs/escrow/artifacts/escrow-v3.so');
    copyFileSync(artifact, join(folder, 'escrow-build/escrow-v3.so'));
    const newSigner = Keypair.generate().publicKey;
    const names = {
      RPC: rpcUrl,
      CREDIT_MINT: credit.publicKey.toBase58(),
      STAKE_MINT: stake.publicKey.toBase58(),
      VAULT: vault.publicKey.toBase58(),
      ARBITER: arbiter.toBase58(),
      GATEWAY: addresses.gateway(gatewayOperator.publicKey).toBase58(),
      WORKER: addresses.worker(workerAuthority.publicKey).toBase58(),
      TOKEN_ACCOUNT: savings.account.toBase58(),
      PAYOUT: payout.account.toBase58(),
      STAKE_ACCOUNT: staked.account.toBase58(),
      OLD_SIGNER: Keypair.generate().publicKey.toBase58(),
      NEW_SIGNER: newSigner.toBase58(),
      TREASURY_DESTINATION: purse.account.toBase58(),
    };

    // when each is run in its turn
    for (const command of commands.filter((each) => !isVerdict(each))) {
      if (command.includes('send credit_open')) {
        // What `operator:init` does.
        await openGateway(operator, { gatewayOperator, signers: [newSigner] });
      }
      if (command.includes('send treasury_withdraw')) await endowTreasury();
      const printed = await run(command, names);
      if (command.includes('--print')) await approve(printed);
    }

    // then the program is as the document says
    const config = await fetchConfig(connection, addresses.config);
    expect(config?.authority).toEqual(vault.publicKey);
    expect(config?.arbiter).toEqual(arbiter);
    expect(config).toMatchObject({ depositsPaused: false, locksPaused: false });
    const gateway = await fetchGateway(connection, addresses.gateway(gatewayOperator.publicKey));
    expect(gateway && gatewaySigners(gateway)).toEqual([newSigner]);
    const account = await fetchCreditAccount(connection, addresses.creditAccount(wallet.publicKey));
    expect(account).toMatchObject({
      availableCredits: 10_000n,
      limitPerJobCredits: 400n,
      limitPerDayCredits: 20_000n,
    });
    const worker = await fetchWorker(connection, addresses.worker(workerAuthority.publicKey));
    expect(worker?.stakeTokens).toBe(1_000n);
    expect(worker?.proofKey).toEqual(newProofKey.publicKey);
    const model = addresses.model('llama-3.2-3b-instruct');
    expect(worker && workerModels(worker)).toEqual([model]);
    expect((await fetchModel(connection, model))?.retiresAt).toBeGreaterThan(0n);
    expect((await connection.getTokenAccountBalance(purse.account)).value.amount).toBe('1000000');

    /** Anybody can send the treasury tokens; here they stand for its share of charges. */
    async function endowTreasury(): Promise<void> {
      const given = tokenMintTo({
        mint: credit.publicKey,
        account: addresses.treasuryVault,
        authority: payer.publicKey,
        // Its floor of 3,000 credits, and what the document withdraws.
        baseUnits: 31_000_000n,
      });
      await submit(operator, [given]);
    }

    /** As a multisig does with the printed message: signs as its vault, with a new blockhash. */
    async function approve(message: string): Promise<void> {
      const proposed = Transaction.populate(Message.from(base58.decode(message)));
      expect(proposed.feePayer).toEqual(vault.publicKey);
      await submit({ rpc, authority: vault }, proposed.instructions);
    }
  });
});

describe("the arbiter's commands", () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await createScene();
  });
  afterAll(() => scene.ledger.close());

  it('decide disputes, suspend a worker, and burn what was slashed', async () => {
    // given a disputed job
    const { service, ledger } = scene;
    const [rejected, upheld] = await scene.lock(2);
    if (!rejected || !upheld) throw new Error('two jobs were locked');
    for (const job of [rejected, upheld]) {
      await scene.acknowledge(job);
      await scene.settle(job);
      await scene.dispute(job);
    }
    const account = await fetchJob(ledger.connection, upheld);
    if (!account) throw new Error('the job is not on the ledger');
    const [recorded, other] = conflictingProofs(service, upheld, account);
    keepSigned('recorded-proof.json', recorded);
    keepSigned('other-proof.json', other);
    await advanceToVerdict(ledger.connection, account);
    keep('arbiter.json', service.arbiter);
    keep('crank.json', service.operator.authority);

    // when
    for (const command of commands.filter(isVerdict)) {
      await run(command, {
        RPC: ledger.rpcUrl,
        JOB: (command.includes('verdict=rejected') ? rejected : upheld).toBase58(),
        CREDIT_ACCOUNT: service.creditAccount.toBase58(),
        WORKER: service.worker.toBase58(),
        STAKE_MINT: service.mints.stake.toBase58(),
      });
    }

    // then
    expect((await fetchJob(ledger.connection, rejected))?.outcome).toBe('rejected');
    expect((await fetchJob(ledger.connection, upheld))?.outcome).toBe('upheld_worker');
    const treasury = await fetchTreasury(ledger.connection, addresses.treasury);
    expect(treasury?.slashedStakeTokens).toBe(0n);
    expect((await fetchWorker(ledger.connection, service.worker))?.status).toBe('suspended');
  });

  it('are refused without a key, and by the program’s name of the error', async () => {
    const stranger = Keypair.generate();
    keep('stranger.json', stranger);
    await scene.ledger.fundLamports(stranger.publicKey, LAMPORTS_PER_SOL);
    const { service, ledger } = scene;
    const names = { RPC: ledger.rpcUrl, JOB: service.creditAccount.toBase58() };
    const send = (words: string) => run(`npx svc send ${words} --rpc "$RPC"`, names);

    await expect(send('job_refund job=$JOB credit_account=$JOB')).rejects.toThrow(
      'Needs --signer for the fee.',
    );
    await expect(
      send('pause_set --signer keys/stranger.json deposits_paused=true locks_paused=true'),
    ).rejects.toThrow('The escrow program refused pause_set: Unauthorized. Nothing was changed.');
  });
});
