import { describe, expect, it } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import { buildInstruction } from '../../cli/instructionInput.ts';
import { createAddresses, creditBuy, PROGRAM_ID, workerHost } from '../../programs/client/index.ts';

const key = () => Keypair.generate().publicKey;
const signer = key();
const wallet = key();
const buyerTokenAccount = key();
const gateway = key();

const build = (name: string, ...words: string[]) =>
  buildInstruction({ name, words, signer, programId: PROGRAM_ID });

const DISPUTE = ['job', 'credit_account', 'worker'].map((name) => `${name}=${wallet}`);

describe('an instruction from command-line fields', () => {
  it('equals the one that the client builds from the same fields', () => {
    expect(
      build(
        'credit_buy',
        `wallet=${wallet}`,
        `buyer_token_account=${buyerTokenAccount}`,
        'credits=5',
      ),
    ).toEqual(creditBuy({ buyer: signer, buyerTokenAccount, wallet, credits: 5n }));
    expect(build('worker_host', 'model_id=qwen3-8b')).toEqual(
      workerHost({ authority: signer, modelId: 'qwen3-8b' }),
    );
  });

  it.each([
    ['credit_buy', ['credits=5'], 'credit_buy needs wallet.'],
    ['credit_buy', [`wallet=${wallet}`, 'credits=5'], 'credit_buy needs buyer_token_account.'],
    ['credit_open', [`spender=${gateway}`], 'credit_open needs wallet.'],
    ['worker_host', [], 'worker_host needs model_id.'],
    ['model_upsert', ['tier=lite'], 'model_upsert needs id.'],
    ['job_acknowledge', [`gatway=${gateway}`], 'job_acknowledge has no gatway.'],
    [
      'dispute_resolve',
      [...DISPUTE, 'verdict=guilty'],
      'dispute_resolve: verdict takes one of none, rejected, upheld_gateway, upheld_worker, expired.',
    ],
    [
      'job_dispute',
      [...DISPUTE.slice(0, 2), `signer=${wallet}`, 'client_hash=5f5f'],
      'job_dispute: client_hash takes 32 bytes.',
    ],
    [
      'treasury_withdraw',
      [`destination=${wallet}`, `base_units=${2n ** 64n}`],
      'treasury_withdraw: base_units takes a whole number from 0 to 2^64 - 1.',
    ],
  ])('of %s with %j is refused, with where to see its fields', (name, words, says) => {
    expect(() => build(name, ...words)).toThrow(
      `${says} See docs/instructions/${name}.md for its fields.`,
    );
  });

  it('is refused for no address, and for one that follows from others', () => {
    expect(() => build('credit_buy', 'wallet=nonsense')).toThrow('wallet takes an address.');
    const words = [`wallet=${wallet}`, `buyer_token_account=${buyerTokenAccount}`, 'credits=5'];
    expect(() => build('credit_buy', ...words, `credit_account=${gateway}`)).toThrow(
      `credit_account follows from other fields: it is ${createAddresses().creditAccount(wallet)}.`,
    );
  });
});
