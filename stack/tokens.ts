import {
  createAssociatedTokenAccountIdempotentInstruction,
  createInitializeMint2Instruction,
  createMintToInstruction,
  getAssociatedTokenAddressSync,
  MINT_SIZE,
  TOKEN_PROGRAM_ID,
} from '@solana/spl-token';
import {
  type Keypair,
  type PublicKey,
  SystemProgram,
  type TransactionInstruction,
} from '@solana/web3.js';
import { exists, type Operator, submit } from './operator.ts';

/** The service's two tokens. */
export interface Mints {
  readonly credit: PublicKey;
  readonly stake: PublicKey;
}

/** The stablecoin's decimals are part of the price of a credit; the stake's mint follows suit. */
const MINT_DECIMALS = 6;
export const STAKE_BASE_UNITS_PER_TOKEN = 10n ** BigInt(MINT_DECIMALS);

/** Creates a mint at the given key's address, if it is not there yet. */
export async function createMint(operator: Operator, mint: Keypair): Promise<void> {
  if (await exists(operator, mint.publicKey)) return;
  const authority = operator.authority.publicKey;
  const create = SystemProgram.createAccount({
    fromPubkey: authority,
    newAccountPubkey: mint.publicKey,
    lamports: await operator.connection.getMinimumBalanceForRentExemption(MINT_SIZE),
    space: MINT_SIZE,
    programId: TOKEN_PROGRAM_ID,
  });
  const initialize = createInitializeMint2Instruction(
    mint.publicKey,
    MINT_DECIMALS,
    authority,
    null,
  );
  await submit(operator, [create, initialize], [mint]);
}

/** Instructions that give an owner newly minted tokens, and the token account they arrive in. */
export function mintTo(
  { authority }: Operator,
  input: { mint: PublicKey; owner: PublicKey; baseUnits: bigint },
): { account: PublicKey; instructions: TransactionInstruction[] } {
  const { mint, owner, baseUnits } = input;
  const account = getAssociatedTokenAddressSync(mint, owner);
  const payer = authority.publicKey;
  return {
    account,
    instructions: [
      createAssociatedTokenAccountIdempotentInstruction(payer, account, owner, mint),
      createMintToInstruction(mint, account, payer, baseUnits),
    ],
  };
}
