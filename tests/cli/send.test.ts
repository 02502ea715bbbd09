import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { base58 } from '@scure/base';
import { Keypair, LAMPORTS_PER_SOL, Message } from '@solana/web3.js';
import { describeRefusal } from '../../cli/send.ts';
import { describePayerShortage } from '../../common/payerShortage.ts';
import { creditOpen } from '../../programs/client/index.ts';
import { createRpc, type Rpc } from '../../programs/client/rpc/rpc.ts';
import { associatedTokenAddress } from '../../programs/client/token/instructions.ts';
import { mintTo, submit } from '../../stack/operator.ts';
import { runCli } from '../../testing/cli.ts';
import { UNLIMITED } from '../../testing/kit/setUp.ts';
import {
  LONG_BLOCKHASH_MS,
  openService,
  type Service,
  startLedger,
  type TestLedger,
} from '../../testing/ledger/ledger.ts';

const SPENDER = Keypair.generate();
/** A node that cannot be reached. */
const away = createRpc({ post: () => Promise.reject(new Error('away')) });

let ledger: TestLedger;
beforeAll(async () => {
  ledger = await startLedger({ blockhashMs: LONG_BLOCKHASH_MS });
});
afterAll(() => ledger.close());

/** The last line that `svc send` writes when it is refused. */
async function refusalOf(payer: Keypair, words?: string[]): Promise<string | undefined> {
  const signer = JSON.stringify([...payer.secretKey]);
  const opening = [
    ...['credit_open', `wallet=${payer.publicKey}`, `spender=${SPENDER.publicKey}`],
    ...['limit_per_job_credits=100', 'limit_per_day_credits=1000'],
  ];
  const args = ['send', ...(words ?? opening), '--rpc', ledger.rpcUrl, '--signer', signer];
  const { error, code } = await runCli(args);
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
  let service: Service;
  /** Of the worker's authority, whose tokens are all staked. */
  let emptyTokenAccount: string;
  beforeAll(async () => {
    service = await openService(ledger);
    const { mints, workerAuthority } = service;
    emptyTokenAccount = associatedTokenAddress(mints.stake, workerAuthority.publicKey).toBase58();
  });

  const depositing = () => [
    'stake_deposit',
    `worker=${service.worker}`,
    `depositor_token_account=${emptyTokenAccount}`,
    'tokens=1',
  ];

  it('prints the program’s error name', async () => {
    const stranger = Keypair.generate();
    await ledger.fundLamports(stranger.publicKey, LAMPORTS_PER_SOL);
    const pausing = ['pause_set', 'deposits_paused=true', 'locks_paused=true'];
    expect(await refusalOf(stranger, pausing)).toBe(
      'The escrow program refused pause_set: Unauthorized. Nothing was changed.',
    );
  });

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
    const { publicKey: spender } = SPENDER;
    const instruction = creditOpen({ payer, wallet, spender, ...UNLIMITED });
    let sent = { name: 'credit_open', instruction, payer };
    const describe = (instructionIndex: number | null, name: string, rpc: Rpc) =>
      describeRefusal({ name, code: null, instructionIndex }, sent, rpc);
    const { rpc } = ledger;
    const unknown = 'The ledger refused credit_open: error 1 of a program that is not known.';
    // By now it would succeed, so that a simulation shows nothing.
    expect(await describe(0, '{"Custom":1}', rpc)).toBe(unknown);
    expect(await describe(0, '{"Custom":1}', away)).toBe(unknown);
    // It would fail for want of the payer's lamports: another error than the one to be explained.
    const poor = Keypair.generate().publicKey;
    await ledger.fundLamports(poor, 1_500_000);
    sent = {
      ...sent,
      instruction: creditOpen({ payer: poor, wallet, spender, ...UNLIMITED }),
      payer: poor,
    };
    expect(await describe(0, '{"Custom":1}', rpc)).toMatch(/^The system program, called by/);
    expect(await describe(0, '{"Custom":4}', rpc)).toBe(unknown.replace('1', '4'));
    expect(await describe(1, 'InvalidInstructionData', rpc)).toBe(
      'The compute budget program refused the limits of credit_open: InvalidInstructionData.',
    );
    expect(await describe(null, 'AccountNotFound', rpc)).toBe(
      'The ledger refused it: AccountNotFound.',
    );
  });
});
