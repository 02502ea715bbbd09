import { TOKEN_ACCOUNT_BYTES } from '../../bank/tokenBalances.ts';
import { type Account, RENT_EPOCH_NEVER, type Runtime } from '../../runtime/runtime.ts';

/** Token account: mint, owner, amount, …, state. Mint: authority option and key, supply. */
const OWNER_OFFSET = 32;
const AMOUNT_OFFSET = 64;
const STATE_OFFSET = 108;
const INITIALIZED = 1;
const SUPPLY_OFFSET = 36;

/** A token account with another amount, or a new one. Amounts are in base units. */
export function tokenAccountOf(
  runtime: Runtime,
  holding: {
    before: Account | null;
    mint: Uint8Array;
    owner: Uint8Array;
    programId: Uint8Array;
    amount: bigint;
  },
): Account {
  const { before, mint, owner, programId, amount } = holding;
  const data = before ? Buffer.from(before.data) : Buffer.alloc(TOKEN_ACCOUNT_BYTES);
  if (!before) {
    data.set(mint, 0);
    data.set(owner, OWNER_OFFSET);
    data.writeUInt8(INITIALIZED, STATE_OFFSET);
  }
  data.writeBigUInt64LE(amount, AMOUNT_OFFSET);
  return {
    lamports: before?.lamports ?? runtime.rentExemptLamports(data.length),
    data,
    owner: programId,
    executable: false,
    rentEpoch: RENT_EPOCH_NEVER,
  };
}

/** A mint with another supply, in base units. */
export function mintWith(mint: Account, supply: bigint): Account {
  const data = Buffer.from(mint.data);
  data.writeBigUInt64LE(supply, SUPPLY_OFFSET);
  return { ...mint, data };
}
