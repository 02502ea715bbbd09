import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Connection, Keypair } from '@solana/web3.js';
import { payerTrouble } from '../../cli/payerTrouble.ts';
import { startLedger, type TestLedger } from '../support/ledger.ts';

const MAIN = fileURLToPath(new URL('../../cli/main.ts', import.meta.url));

let ledger: TestLedger;
beforeAll(async () => {
  ledger = await startLedger();
});
afterAll(() => ledger.close());

/** The last line that `svc send` writes when it is refused. */
async function refusalOf(payer: Keypair): Promise<string | undefined> {
  const signer = JSON.stringify([...payer.secretKey]);
  const spender = `spender=${Keypair.generate().publicKey}`;
  const wallet = `wallet=${payer.publicKey}`;
  const args = ['send', 'credit_open', '--rpc', ledger.rpcUrl, '--signer', signer, wallet, spender];
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: { PATH: process.env.PATH },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const [error, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  expect(code).toBe(1);
  return error.trimEnd().split('\n').at(-1);
}

describe('svc send, when the first signer cannot pay,', () => {
  it.each([
    [0, 'no SOL.'],
    [4_999, 'only 0.000004999 SOL.'],
    [893_000, 'only 0.000893000 SOL: less would be left than an account must hold.'],
  ])('names it and what it has: %d lamports', async (lamports, has) => {
    const payer = Keypair.generate();
    await ledger.fundLamports(payer.publicKey, lamports);
    expect(await refusalOf(payer)).toBe(
      `The first signer, ${payer.publicKey}, pays the fee and has ${has} Nothing was changed.`,
    );
  });

  it("leaves it at the ledger's word where its balance says otherwise, or cannot be read", async () => {
    const refusal = { name: 'AccountNotFound', code: null, instructionIndex: null };
    const away = new Connection(ledger.rpcUrl, { fetch: () => Promise.reject(new Error('away')) });
    const { publicKey } = ledger.payer;
    expect(await payerTrouble(refusal, publicKey, ledger.connection)).toBeUndefined();
    expect(await payerTrouble(refusal, publicKey, away)).toBeUndefined();
    const other = { ...refusal, name: 'InsufficientFundsForRent of account 3' };
    expect(await payerTrouble(other, Keypair.generate().publicKey, ledger.connection)).toBe(
      undefined,
    );
  });
});
