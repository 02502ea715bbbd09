import { describe, expect, it } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import { buildInstruction } from '../../cli/instructionInput.ts';
import { createAddresses, creditBuy, PROGRAM_ID, workerHost } from '../../programs/client/index.ts';

const SEE = (name: string) => `See docs/instructions/${name}.md for its fields.`;
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
    { missing: 'wallet', name: 'credit_buy', words: ['credits=5'] },
    {
      missing: 'buyer_token_account',
      name: 'credit_buy',
      words: [`wallet=${wallet}`, 'credits=5'],
    },
    { missing: 'wallet', name: 'credit_open', words: [`spender=${gateway}`] },
    { missing: 'model_id', name: 'worker_host', words: [] },
    { missing: 'id', name: 'model_upsert', words: ['tier=lite'] },
  ])('is refused without $missing, which $name needs', ({ missing, name, words }) => {
    expect(() => build(name, ...words)).toThrow(`${name} needs ${missing}. ${SEE(name)}`);
  });

  it.each([
    {
      name: 'treasury_withdraw',
      words: ['destination=nonsense', 'base_units=1'],
      says: 'destination takes an address.',
    },
    { name: 'credit_buy', words: ['wallet=nonsense'], says: 'wallet takes an address.' },
    {
      name: 'dispute_resolve',
      words: [...DISPUTE, 'verdict=guilty'],
      says: `dispute_resolve: verdict takes one of none, rejected, upheld_gateway, upheld_worker, expired. ${SEE('dispute_resolve')}`,
    },
    {
      name: 'job_dispute',
      words: [...DISPUTE.slice(0, 2), `signer=${wallet}`, 'client_hash=5f5f'],
      says: `job_dispute: client_hash takes 32 bytes. ${SEE('job_dispute')}`,
    },
    {
      name: 'treasury_withdraw',
      words: [`destination=${wallet}`, `base_units=${2n ** 64n}`],
      says: 'treasury_withdraw: base_units takes a whole number from 0 to 2^64 - 1.',
    },
    {
      name: 'job_acknowledge',
      words: [`gatway=${gateway}`],
      says: `job_acknowledge has no gatway. ${SEE('job_acknowledge')}`,
    },
    {
      name: 'credit_buy',
      words: [
        ...[`wallet=${wallet}`, `buyer_token_account=${buyerTokenAccount}`, 'credits=5'],
        `credit_account=${gateway}`,
      ],
      says: `credit_account follows from other fields: it is ${createAddresses().creditAccount(wallet)}.`,
    },
  ])('is refused with the message: $says', ({ name, words, says }) => {
    expect(() => build(name, ...words)).toThrow(says);
  });
});
