import { describe, expect, it } from '@jest/globals';
import { type AccountName, decodeAccount, PROGRAM_ID } from '../../programs/client/index.ts';
import { isUnreachable } from './support/errorCoverage.ts';
import { fieldsOf, width } from './support/idlTypes.ts';
import { invariantErrors, returnableErrors } from './support/returnableErrors.ts';
import { undone } from './support/undone.ts';
import { type Step, walkThrough } from './support/walkthrough.ts';

/** A number for one field, written over what the account holds. */
type Corruption = Record<string, bigint>;

const U64_MAX = 2n ** 64n - 1n;

/** Contradictions that no instruction could have written, for each kind of account. */
const corruptions: Record<AccountName, Corruption[]> = {
  Config: [{ stake_decimals: 10n }],
  Treasury: [{ owed_base_units: 2n ** 63n, disputed_exposure_base_units: 2n ** 63n }],
  Gateway: [{ signers_len: 9n }],
  CreditAccount: [{ locked_credits: 10_000_000_001_000n }, { wallet: 0n }],
  Model: [{ tier: 4n }],
  Worker: [{ stake_tokens: 10_000_000_001n }, { endpoint_len: 0n }],
  Job: [{ failure_reason: 1n }, { charged_credits: 1n }],
};

/** The account's bytes with these fields changed. */
function corrupt(name: string, data: Uint8Array, changes: Corruption): Uint8Array {
  const changed = Uint8Array.from(data);
  let offset = 8;
  for (const field of fieldsOf(name)) {
    const bytes = width(field.type);
    const value = changes[field.name];
    for (let at = 0; value !== undefined && at < bytes; at += 1) {
      changed[offset + at] = Number((value >> BigInt(8 * at)) & 0xffn);
    }
    offset += bytes;
  }
  return changed;
}

/** The program's accounts among the instruction's, with what to write over them. */
async function brokenAccounts({ world, instructions }: Step) {
  const [{ keys }] = instructions;
  const found = await Promise.all(
    keys.map(async ({ pubkey: address }) => ({
      address,
      account: await world.chain.account(address),
    })),
  );
  return found.flatMap(({ address, account }) => {
    if (account === null || account.executable || !account.owner.equals(PROGRAM_ID)) return [];
    const { name } = decodeAccount(account.data);
    const sequence = { sequence: name === 'Job' ? 2n ** 32n - 1n : U64_MAX };
    return [sequence, ...corruptions[name]].map((changes) => ({
      address,
      account: { ...account, data: corrupt(name, account.data, changes) },
    }));
  });
}

/** How the step ends now. All that it did is taken back. */
const outcomeOf = ({ world, instructions, signers }: Step): Promise<string> => {
  const [{ keys }] = instructions;
  const writable = keys.filter(({ isWritable }) => isWritable).map(({ pubkey }) => pubkey);
  return undone(world, writable, () =>
    world.chain.send(instructions, signers).then(
      () => 'success',
      (error: Error) => error.message,
    ),
  );
};

describe('an account that violates its invariant', () => {
  it('is refused by every instruction that would change it', async () => {
    const returnable = returnableErrors();
    const missed: string[] = [];
    await walkThrough(async (step) => {
      const { world, name, instructions, signers } = step;
      const outcomes = new Set<string>();
      for (const { address, account } of await brokenAccounts(step)) {
        await undone(world, [address], async () => {
          world.chain.setAccount(address, account);
          outcomes.add(await outcomeOf(step));
        });
      }
      const errors = returnable.get(name);
      if (errors === undefined) throw new Error(`${name} is not in the Rust source`);
      for (const error of invariantErrors(errors)) {
        if (!outcomes.has(error) && !isUnreachable(name, error)) missed.push(`${name}: ${error}`);
      }
      await world.chain.send(instructions, signers);
    });
    expect(missed).toEqual([]);
  });
});
