import {
  ACCOUNT_SIZE,
  AccountLayout,
  AccountState,
  MINT_SIZE,
  MintLayout,
  TOKEN_PROGRAM_ID,
} from '@solana/spl-token';
import { type AccountInfo, PublicKey } from '@solana/web3.js';

/** What a token account is written with. */
export interface TokenHolding {
  mint: PublicKey;
  owner: PublicKey;
  baseUnits: bigint;
  frozen?: boolean;
}

/** A mint that nobody can mint from: tests write what accounts hold. */
export function mintAccount(decimals: number): AccountInfo<Uint8Array> {
  const data = Buffer.alloc(MINT_SIZE);
  MintLayout.encode(
    {
      mintAuthorityOption: 0,
      mintAuthority: PublicKey.default,
      supply: 0n,
      decimals,
      isInitialized: true,
      freezeAuthorityOption: 0,
      freezeAuthority: PublicKey.default,
    },
    data,
  );
  return ofTokenProgram(data);
}

export function tokenAccount(holding: TokenHolding): AccountInfo<Uint8Array> {
  const data = Buffer.alloc(ACCOUNT_SIZE);
  AccountLayout.encode(
    {
      mint: holding.mint,
      owner: holding.owner,
      amount: holding.baseUnits,
      delegateOption: 0,
      delegate: PublicKey.default,
      delegatedAmount: 0n,
      state: holding.frozen ? AccountState.Frozen : AccountState.Initialized,
      isNativeOption: 0,
      isNative: 0n,
      closeAuthorityOption: 0,
      closeAuthority: PublicKey.default,
    },
    data,
  );
  return ofTokenProgram(data);
}

const LAMPORTS_PER_BYTE = 6_960;
const ACCOUNT_OVERHEAD_BYTES = 128;

const ofTokenProgram = (data: Uint8Array): AccountInfo<Uint8Array> => ({
  lamports: (data.length + ACCOUNT_OVERHEAD_BYTES) * LAMPORTS_PER_BYTE,
  data,
  owner: TOKEN_PROGRAM_ID,
  executable: false,
});
