import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Keypair, type PublicKey } from '@solana/web3.js';
import { associatedTokenAddress } from '../../programs/client/token/instructions.ts';
import { runCli } from '../../testing/cli.ts';
import {
  LONG_BLOCKHASH_MS,
  openService,
  type Service,
  startLedger,
  type TestLedger,
} from '../../testing/ledger/ledger.ts';

let ledger: TestLedger;
let service: Service;

beforeAll(async () => {
  ledger = await startLedger({ blockhashMs: LONG_BLOCKHASH_MS });
  service = await openService(ledger);
});
afterAll(() => ledger?.close());

/** @returns what the command prints, or why it is refused */
async function tokenAccount(payer: Keypair, ...more: string[]): Promise<string> {
  const signer = ['--signer', JSON.stringify([...payer.secretKey])];
  const args = ['token-account', '--rpc', ledger.rpcUrl, ...signer, ...more];
  const { output, error } = await runCli(args);
  return (output || error).trimEnd();
}

async function amountAt(address: PublicKey): Promise<string | undefined> {
  const { value } = await ledger.connection.getTokenAccountBalance(address, 'confirmed');
  return value.amount;
}

describe('svc token-account', () => {
  it('makes the account for credits once, and prints the same address again', async () => {
    const payer = Keypair.generate();
    await ledger.fundLamports(payer.publicKey, 1_000_000_000);
    const address = associatedTokenAddress(service.mints.credit, payer.publicKey);
    expect(await tokenAccount(payer)).toBe(address.toBase58());
    expect(await amountAt(address)).toBe('0');
    const left = await ledger.connection.getBalance(payer.publicKey, 'confirmed');
    expect(await tokenAccount(payer)).toBe(address.toBase58());
    expect(await ledger.connection.getBalance(payer.publicKey, 'confirmed')).toBe(left);
  });

  it("makes somebody else's account for stakes", async () => {
    const [payer, owner] = [Keypair.generate(), Keypair.generate().publicKey];
    await ledger.fundLamports(payer.publicKey, 1_000_000_000);
    const address = associatedTokenAddress(service.mints.stake, owner);
    expect(await tokenAccount(payer, '--stake', '--owner', owner.toBase58())).toBe(
      address.toBase58(),
    );
    expect(await amountAt(address)).toBe('0');
  });

  it('is refused when the key cannot pay', async () => {
    expect(await tokenAccount(Keypair.generate())).toContain('pays the fee and has no SOL');
  });
});
