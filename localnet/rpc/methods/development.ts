import { PublicKey } from '@solana/web3.js';
import { z } from 'zod';
import { associatedTokenAddress } from '../../../programs/client/token/instructions.ts';
import { mintState, tokenHolding } from '../../bank/tokenBalances.ts';
import { type Account, EMPTY_ACCOUNT, RENT_EPOCH_NEVER } from '../../runtime/runtime.ts';
import { addressText } from '../../wire/text.ts';
import { newTokenAccount, withAmount, withSupply } from '../encode/tokenData.ts';
import {
  CallError,
  invalidParams,
  type Method,
  method,
  type RpcContext,
} from '../protocol/method.ts';
import { address, amount, optional } from '../protocol/parameters.ts';

/** A month. */
const ADVANCE_MS_MAX = 31 * 24 * 3_600_000;

const U64_MAX = 2n ** 64n - 1n;

const base64 = z.base64().transform((text) => Buffer.from(text, 'base64'));

const developmentOnly = {
  /** Changes an account without a transaction; omitted fields stay as they are. */
  localnet_setAccount: method(
    {
      address,
      fields: z.object({
        lamports: optional(amount),
        data: optional(base64),
        owner: optional(address),
        executable: optional(z.boolean()),
      }),
    },
    async ({ bank }, { address: at, fields }) => {
      const before = bank.runtime.account(at);
      const data = fields.data ?? before?.data ?? new Uint8Array();
      const account: Account = {
        lamports:
          fields.lamports === undefined
            ? (before?.lamports ?? bank.runtime.rentExemptLamports(data.length))
            : BigInt(fields.lamports),
        data,
        owner: fields.owner ?? before?.owner ?? EMPTY_ACCOUNT.owner,
        executable: fields.executable ?? before?.executable ?? false,
        rentEpoch: RENT_EPOCH_NEVER,
      };
      await bank.writeAccounts([[at, account.lamports === 0n ? null : account]]);
      return null;
    },
  ),

  /**
   * Moves, stops or starts the Clock. Slots and the age of blockhashes are not affected.
   */
  localnet_setClock: method(
    { change: z.object({ unixMs: optional(z.int()), isRunning: optional(z.boolean()) }) },
    ({ bank }, { change }) => {
      const { unixMs: clockMs, isRunning } = change;
      bank.store.storeAnchor(bank.timeline.setClock({ clockMs, isRunning }));
      return { unixMs: bank.timeline.clockMs(), isRunning: bank.timeline.isClockRunning };
    },
  ),

  /** Advances the slots at once, so that blockhashes expire and blocks become final. */
  localnet_skipSlots: method({ slots: amount.max(1_000_000) }, ({ bank }, { slots }) => {
    bank.skipSlots(slots);
    return bank.slot('processed');
  }),

  /** Advances the Clock and the slots by this many milliseconds at once. */
  localnet_advanceTime: method({ milliseconds: amount.max(ADVANCE_MS_MAX) }, (context, given) => {
    const { bank } = context;
    const { timeline, store } = bank;
    const { milliseconds } = given;
    bank.skipSlots(Math.floor(milliseconds / timeline.slotMs));
    store.storeAnchor(timeline.setClock({ clockMs: timeline.clockMs() + milliseconds }));
    return { unixMs: timeline.clockMs(), slot: bank.slot('processed') };
  }),

  /** Adds lamports to an address. */
  localnet_fund: method({ address, lamports: amount }, (context, { address: to, lamports }) =>
    context.faucet.airdrop(to, BigInt(lamports)),
  ),

  /** Mints tokens of any mint to an owner's associated token account. */
  localnet_mintTokens: method(
    { mint: address, owner: address, baseUnits: amount },
    async (context, { mint, owner, baseUnits }) => mintTokens(context, mint, owner, baseUnits),
  ),
};

/** The same methods, refused unless the ledger was started for development. */
export const developmentMethods: Record<string, Method> = Object.fromEntries(
  Object.entries(developmentOnly).map(([name, { answer }]) => [
    name,
    {
      answer(context: RpcContext, params: unknown) {
        if (context.isDevelopment) return answer(context, params);
        throw new CallError(
          -32601,
          `${name} is refused: this ledger was not started for development (--development)`,
        );
      },
    },
  ]),
);

async function mintTokens(
  { bank }: RpcContext,
  mint: Uint8Array,
  owner: Uint8Array,
  baseUnits: number,
): Promise<string> {
  const mintAccount = bank.runtime.account(mint);
  const state = mintState(mintAccount);
  if (!mintAccount || !state) throw invalidParams('mint: there is no mint at this address');
  const associated = associatedTokenAddress(
    new PublicKey(mint),
    new PublicKey(owner),
    new PublicKey(mintAccount.owner),
  );
  const at = associated.toBytes();
  const found = bank.runtime.account(at);
  const held = tokenHolding(found);
  const amount = (held?.amount ?? 0n) + BigInt(baseUnits);
  const supply = state.supply + BigInt(baseUnits);
  if (amount > U64_MAX || supply > U64_MAX) {
    throw invalidParams('baseUnits: more than 64 bits hold, with what there is');
  }
  const token = { mint, owner, programId: mintAccount.owner };
  const account = found && held ? found : newTokenAccount(bank.runtime, token);
  await bank.writeAccounts([
    [at, withAmount(account, amount)],
    [mint, withSupply(mintAccount, supply)],
  ]);
  return addressText(at);
}
