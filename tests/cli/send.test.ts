import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { base58 } from '@scure/base';
import { Keypair, LAMPORTS_PER_SOL, Message, type PublicKey } from '@solana/web3.js';
import { readSignedMessage } from '../../cli/instructionInput.ts';
import { describeRefusal } from '../../cli/send.ts';
import { describePayerShortage } from '../../common/payerShortage.ts';
import {
  creditOpen,
  fetchJob,
  fetchModel,
  type SignedMessage,
  sign,
} from '../../programs/client/index.ts';
import { createRpc, type Rpc } from '../../programs/client/rpc/rpc.ts';
import { associatedTokenAddress } from '../../programs/client/token/instructions.ts';
import { mintTo, submit } from '../../stack/operator.ts';
import { runCli } from '../../testing/cli.ts';
import { conflictingProofs } from '../../testing/kit/jobInstructions.ts';
import { UNLIMITED } from '../../testing/kit/setUp.ts';
import { advanceToVerdict } from '../../testing/ledger/disputes.ts';
import { addresses, type JobScene, openJobScene } from '../../testing/ledger/jobScene.ts';
import {
  LONG_BLOCKHASH_MS,
  openService,
  type Service,
  startLedger,
  type TestLedger,
} from '../../testing/ledger/ledger.ts';
import { ownFolder } from '../../testing/ownFolder.ts';

const SPENDER = Keypair.generate();
const folder = ownFolder('send');
let files = 0;
function writeFile(content: string): string {
  files += 1;
  const path = join(folder, `${files}.json`);
  writeFileSync(path, content);
  return path;
}

/** A node that cannot be reached. */
const away = createRpc({ post: () => Promise.reject(new Error('away')) });

let scene: JobScene;
let ledger: TestLedger;
let service: Service;
beforeAll(async () => {
  ledger = await startLedger({ blockhashMs: LONG_BLOCKHASH_MS });
  service = await openService(ledger);
  scene = openJobScene({ ledger, service });
});
afterAll(() => ledger?.close());

const send = (payer: Keypair, words: readonly string[]) =>
  runCli([
    ...['send', ...words, '--rpc', ledger.rpcUrl],
    ...['--signer', JSON.stringify([...payer.secretKey])],
  ]);

/** The last line that `svc send` writes when it is refused. */
async function refusalOf(payer: Keypair, words?: string[]): Promise<string | undefined> {
  const opening = [
    ...['credit_open', `wallet=${payer.publicKey}`, `spender=${SPENDER.publicKey}`],
    ...['limit_per_job_credits=100', 'limit_per_day_credits=1000'],
  ];
  const { error, code } = await send(payer, words ?? opening);
  expect(code).toBe(1);
  return error.trimEnd().split('\n').at(-1);
}

describe('svc send with a first signer that cannot pay', () => {
  it.each([
    [0, 'no SOL.'],
    [4_999, 'only 0.000004999 SOL.'],
    [893_000, 'only 0.000893000 SOL: less would be left than an account must hold.'],
  ])('names the signer and its balance: %d lamports', async (lamports, has) => {
    const payer = Keypair.generate();
    await ledger.fundLamports(payer.publicKey, lamports);
    expect(await refusalOf(payer)).toBe(
      `The first signer, ${payer.publicKey}, pays the fee and has ${has} Nothing was changed.`,
    );
  });

  it("keeps the ledger's error if the balance contradicts it or is unread", async () => {
    const refusal = { name: 'AccountNotFound', code: null, instructionIndex: null };
    const { publicKey } = ledger.payer;
    expect(await describePayerShortage(refusal, publicKey, ledger.rpc)).toBeUndefined();
    expect(await describePayerShortage(refusal, publicKey, away)).toBeUndefined();
    const other = { ...refusal, name: 'InsufficientFundsForRent of account 3' };
    expect(await describePayerShortage(other, Keypair.generate().publicKey, ledger.rpc)).toBe(
      undefined,
    );
  });
});

describe('svc send --print', () => {
  it('prints the message and, beside it, for how long its blockhash lives', async () => {
    const { publicKey } = Keypair.generate();
    const { output, error, code } = await runCli([
      ...['send', 'credit_open', `wallet=${publicKey}`, `payer=${publicKey}`],
      `spender=${SPENDER.publicKey}`,
      ...['limit_per_job_credits=100', 'limit_per_day_credits=1000'],
      ...['--rpc', ledger.rpcUrl, '--print'],
    ]);
    expect(code).toBe(0);
    const message = Message.from(base58.decode(output.trim()));
    const { value: isAlive } = await ledger.connection.isBlockhashValid(message.recentBlockhash);
    expect(isAlive).toBe(true);
    const [, block, seconds] =
      /^Its blockhash lives until block (\d+), for about (\d+) s\. A later signature/m.exec(
        error,
      ) ?? [];
    expect(Number(block)).toBeGreaterThan(await ledger.connection.getBlockHeight());
    expect(Number(seconds)).toBeGreaterThanOrEqual(50);
    expect(Number(seconds)).toBeLessThanOrEqual(LONG_BLOCKHASH_MS / 1_000);
  });
});

describe('svc send with a refused instruction', () => {
  const depositing = () => [
    ...['stake_deposit', `worker=${service.worker}`, 'tokens=1'],
    // Of the worker's authority, whose tokens are all staked.
    `depositor_token_account=${associatedTokenAddress(
      service.mints.stake,
      service.workerAuthority.publicKey,
    )}`,
  ];

  it('names the called program that refused it', async () => {
    const poor = Keypair.generate();
    // Enough for the fee and to stay, and not for the rent of an account.
    await ledger.fundLamports(poor.publicKey, 1_500_000);
    expect(await refusalOf(poor)).toBe(
      'The system program, called by credit_open, refused: insufficient funds (error 1). ' +
        'Nothing was changed.',
    );
    expect(await refusalOf(service.workerAuthority, depositing())).toBe(
      'The token program, called by stake_deposit, refused: insufficient funds (error 1). ' +
        'Nothing was changed.',
    );
    const { operator, mints, workerAuthority } = service;
    const owner = workerAuthority.publicKey;
    const minting = mintTo(operator, { mint: mints.stake, owner, baseUnits: 1_000_000n });
    await submit(operator, minting.instructions);
    expect(await refusalOf(ledger.payer, depositing())).toBe(
      'The token program, called by stake_deposit, refused: owner does not match (error 4). ' +
        'Nothing was changed.',
    );
  });

  it('names no program when the ledger does not', async () => {
    const { publicKey: payer } = ledger.payer;
    const wallet = Keypair.generate().publicKey;
    const instruction = creditOpen({ payer, wallet, spender: SPENDER.publicKey, ...UNLIMITED });
    const sent = { name: 'credit_open', instruction, payer };
    const describe = (instructionIndex: number | null, name: string, rpc: Rpc = ledger.rpc) =>
      describeRefusal({ name, code: null, instructionIndex }, sent, rpc);
    const unknown = 'The ledger refused credit_open: error 1 of a program that is not known.';
    // By now it would succeed, so that a simulation shows nothing.
    expect(await describe(0, '{"Custom":1}')).toBe(unknown);
    expect(await describe(0, '{"Custom":1}', away)).toBe(unknown);
    expect(await describe(1, 'InvalidInstructionData')).toBe(
      'The compute budget program refused the limits of credit_open: InvalidInstructionData.',
    );
    expect(await describe(null, 'AccountNotFound')).toBe('The ledger refused it: AccountNotFound.');
  });
});

describe('svc model card', () => {
  const card = {
    ...{ source: 'https://models.example/8b', revision: '1f2e3d', quantization: 'none' },
    ...{ weights_digest: `sha256:${'0'.repeat(64)}`, tokenizer_digest: null },
    ...{ chat_template_digest: null, default_sampling: {}, licence: 'Apache-2.0' },
  };
  const pin = (model: string, ...more: string[]) =>
    runCli(['model', 'card', writeFile(JSON.stringify(card)), '--model', model, ...more]);

  it("pins a card and keeps the model's terms, by the command that it prints", async () => {
    const { id } = service.model;
    const { output, error } = await pin(id, '--rpc', ledger.rpcUrl);
    const words = [...error.matchAll(/\b([a-z_0-9]+=\S+)/g)].map(([, word = '']) => word);
    const read = () => fetchModel(ledger.connection, addresses.model(id));
    const before = await read();
    const sent = await send(service.operator.authority, ['model_upsert', ...words]);
    expect(sent.code).toBe(0);
    const cardHash = new Uint8Array(createHash('sha256').update(output.trimEnd()).digest());
    expect(await read()).toEqual({ ...before, sequence: 2n, cardHash });
  });

  it('needs the model and the node together, and a model that is there', async () => {
    expect((await pin('none')).error).toContain('go together');
    const none = await pin('none', '--rpc', ledger.rpcUrl);
    expect(none).toMatchObject({ code: 1, error: 'The ledger has no model none.\n' });
  });
});

describe('svc send with signed messages', () => {
  let job: PublicKey;
  let proofs: [SignedMessage, SignedMessage];

  /** A disputed job that can be judged, and the proofs that convict its worker. */
  beforeAll(async () => {
    const [locked] = await scene.lock({ count: 1, tokenLimit: 2_000 });
    job = locked?.address as PublicKey;
    await scene.acknowledge(job);
    await scene.settle(job);
    await scene.dispute(job);
    const account = await fetchJob(ledger.connection, job);
    if (!account) throw new Error('the job is not on the ledger');
    proofs = conflictingProofs(service, job, account);
    await advanceToVerdict(ledger.connection, account);
    await ledger.fundLamports(service.arbiter.publicKey, LAMPORTS_PER_SOL);
  });

  const fieldsOf = ({ publicKey, message, signature }: SignedMessage) => ({
    public_key: publicKey.toBase58(),
    message: Buffer.from(message).toString('hex'),
    signature: base58.encode(signature),
  });
  const write = (signed: SignedMessage) => writeFile(JSON.stringify(fieldsOf(signed)));

  async function decide(signed: readonly SignedMessage[]) {
    const { arbiter, creditAccount, worker } = service;
    const { error, code } = await send(arbiter, [
      ...['dispute_resolve', `job=${job}`, `credit_account=${creditAccount}`],
      ...[`arbiter=${arbiter.publicKey}`, `worker=${worker}`, 'verdict=upheld_worker'],
      ...signed.flatMap((one) => ['--signed-message', write(one)]),
    ]);
    return { code, last: error.trimEnd().split('\n').at(-1) };
  }

  it('is refused before it is sent where the messages have another form', async () => {
    const see = 'See docs/instructions/dispute_resolve.md for its fields.';
    const last = `The evidence is neither two proofs nor a delivery receipt. ${see}`;
    expect(await decide([proofs[0]])).toEqual({ code: 1, last });
    expect(await decide([...proofs, proofs[0]])).toEqual({ code: 1, last });
  });

  it('is refused by the name of an instruction that takes no evidence', async () => {
    const evidence = ['--signed-message', write(proofs[0])];
    const burning = ['slash_burn', `stake_mint=${service.mints.stake}`];
    const { error, code } = await send(service.arbiter, [...burning, ...evidence]);
    const reason = 'slash_burn takes no --signed-message: dispute_resolve does.';
    expect([code, error]).toEqual([1, expect.stringContaining(reason)]);
  });

  it('decides a dispute on two proofs that contradict each other [disputes.evidence]', async () => {
    expect(await decide(proofs)).toMatchObject({ code: 0 });
    const account = await fetchJob(ledger.connection, job);
    expect(account?.outcome).toBe('upheld_worker');
  });

  it('reads a file as it was written', () => {
    expect(readSignedMessage(write(proofs[0]))).toEqual({
      publicKey: proofs[0].publicKey,
      message: new Uint8Array(proofs[0].message),
      signature: new Uint8Array(proofs[0].signature),
    });
  });

  it.each<[string, () => string, RegExp]>([
    ['does not exist', () => join(folder, 'none'), /none: the file cannot be read: ENOENT/],
    ['is no JSON', () => writeFile('{'), /the file cannot be read: .*JSON/],
    [
      'has an odd message',
      () => writeFile(JSON.stringify({ ...fieldsOf(proofs[0]), message: 'abc' })),
      /message: takes hexadecimal digits in pairs/,
    ],
    [
      'has a signature of another key',
      () => write({ ...proofs[0], publicKey: Keypair.generate().publicKey }),
      /the signature is not \w+'s over this message/,
    ],
    [
      'is signed over the message itself',
      () => write({ ...proofs[0], signature: sign(proofs[0].message, service.proofKey) }),
      /the signature is not \w+'s over this message/,
    ],
  ])('refuses a file by name where it %s', (_, path, error) => {
    expect(() => readSignedMessage(path())).toThrow(error);
  });
});
