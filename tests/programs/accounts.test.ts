import { describe, expect, it } from '@jest/globals';
import type { TransactionInstruction } from '@solana/web3.js';
import { EscrowErrorCode, IDL } from '../../programs/client/index.ts';
import { type Chain, startChain } from '../../testing/chain.ts';
import {
  callThrough,
  HOSTILE_PROGRAM_ID,
  hostileProgram,
} from '../../testing/ledger/hostileCaller.ts';
import { type Confusion, confuse, createdBy, withFrozenVaults } from './support/confusion.ts';
import { isUnreachable, UNREACHABLE } from './support/errorCoverage.ts';
import { expectRefusal } from './support/expectations.ts';
import { type Others, openOthers } from './support/others.ts';
import { errorsOfCases } from './support/refusals/cases.ts';
import { allErrors, invariantErrors, returnableErrors } from './support/returnableErrors.ts';
import { withData } from './support/tampering.ts';
import { UNUSED, undone } from './support/undone.ts';
import { walkThrough } from './support/walkthrough.ts';
import { createBareWorld, initializeInstruction, send, type World } from './support/world.ts';

/** Substitutions that are no confusion, and why. All others are refused by name. */
const permitted: Readonly<Record<string, string>> = {
  'job_lock: payer = signer': 'anybody who signs may pay the rent',
  'job_lock: payer = an outsider': 'anybody who signs may pay the rent',
  'job_lock: model = another Model': 'the caller chooses the model, up to the price it names',
  'job_acknowledge: job = another Job': 'the gateway controls that job as well',
  'job_acknowledge: worker = another Worker': 'the controller chooses the worker',
  'credit_open: payer = an outsider': 'anybody may open an account for a wallet',
  'credit_buy: credit_account = another CreditAccount': 'anybody may pay for a wallet',
  'gateway_open: payer = an outsider': 'anybody who signs may pay the rent',
  'stake_deposit: worker = another Worker': 'anybody may stake for a worker',
  'worker_host: model = another Model': 'a worker chooses what it hosts',
  'worker_suspend: worker = another Worker': 'the arbiter suspends any worker',
  'model_retire: model = another Model': 'the authority retires any model',
  'gateway_vouch: gateway = another Gateway': 'the authority vouches for any gateway',
};
/** The wallet itself disputes there, and a verdict against a worker needs none: it is not read. */
const isUnread = (title: string): boolean =>
  title.startsWith('job_dispute: gateway = ') || title.startsWith('dispute_resolve: gateway = ');
/** What SPL Token itself decides, which also knows delegates: OwnerMismatch. */
const refusedBySplToken = new Set([
  'credit_buy: buyer = an outsider',
  'stake_deposit: depositor = an outsider',
]);
/** Another account of the right kind is refused by its address, but for these reasons before. */
const otherRefusals: readonly [title: RegExp, refusal: RegExp][] = [
  [/^job_lock: gateway = another/, /^SpenderNotSet$/],
  [/^job_lock: credit_account = another/, /^(NonCanonicalBump|WrongAddress)$/],
  [/: gateway = another/, /^Unauthorized$/],
  // Only its own key signs for such an account.
  [/^(credit_withdraw|spender_set|limit_set): credit_account = another/, /^Unauthorized$/],
  [/^(worker_\w+|stake_unlock|stake_withdraw): worker = another/, /^Unauthorized$/],
  [/^(job_prove: job|job_complete: (job|worker)) = another/, /^SignatureInvalid$/],
  [/^job_(settle|complete): (worker_payout|vault|treasury_vault) = /, /^WrongAddress$/],
  [/^job_close: job = another/, /^JobNotClosable$/],
  [/^claim_pay: claimant = another/, /^NothingToClaim$/],
  [/^worker_unhost: model = another/, /^NotHosted$/],
];

const named = new Set(Object.keys(EscrowErrorCode));

const isExpected = (title: string, { refusal }: Confusion, outcome: string): boolean => {
  if (title in permitted || isUnread(title)) return outcome === 'taken';
  if (refusedBySplToken.has(title)) return outcome.endsWith('custom program error: 0x4');
  const due = otherRefusals.find(([other]) => other.test(title))?.[1] ?? refusal;
  if (due === undefined) return named.has(outcome);
  return typeof due === 'string' ? outcome === due : due.test(outcome);
};

/** How an instruction ends. */
const outcomeOf = (world: World, instruction: TransactionInstruction): Promise<string> =>
  send(world, instruction).then(
    () => 'taken',
    (error: Error) => error.message,
  );

async function startWithHostileProgram(): Promise<Chain> {
  const chain = await startChain();
  chain.setAccount(HOSTILE_PROGRAM_ID, hostileProgram());
  return chain;
}

describe('every instruction', () => {
  it('refuses every wrong account and signer, from clients and programs [charging.no-withdrawal-by-key]', async () => {
    const unexpected: string[] = [];
    const taken: string[] = [];
    const met = new Map<string, Set<string>>();
    const worlds = new Map<World, Others>();
    await walkThrough(async (step) => {
      const { world, name, instructions } = step;
      const others = worlds.get(world) ?? (await openOthers(world, name));
      worlds.set(world, others);
      const found = met.get(name) ?? new Set();
      met.set(name, found);
      const tryOut = async (confusion: Confusion, last: TransactionInstruction) => {
        const title = `${name}: ${confusion.title}`;
        const touched = last.keys.map(({ pubkey }) => pubkey);
        const act = () => outcomeOf(world, last);
        // What is taken although it is not the step itself leaves no trace for the next attempt.
        const isTaken = title in permitted || isUnread(title);
        const outcome = await (isTaken ? undone(world, touched, act) : act());
        found.add(outcome);
        if (!isExpected(title, confusion, outcome)) unexpected.push(`${title}: ${outcome}`);
      };
      for (const confusion of await confuse(step, others)) {
        const { instruction, only } = confusion;
        if (only !== 'call') await tryOut(confusion, instruction);
        if (only !== 'client') await tryOut(confusion, callThrough(instruction));
      }
      const [valid] = instructions;
      await withFrozenVaults(step, (title, refusal) => {
        return tryOut({ title, instruction: valid, refusal }, valid);
      });
      const writable = valid.keys.filter((key) => key.isWritable).map(({ pubkey }) => pubkey);
      const created = createdBy(step);
      for (const lamports of created.length === 0 ? [] : [1, 1_000_000, 1_000_000_000]) {
        await undone(world, writable, async () => {
          for (const address of created) world.chain.setAccount(address, { ...UNUSED, lamports });
          await send(world, valid);
        });
      }
      await send(world, callThrough(valid));
      taken.push(name);
    }, startWithHostileProgram);
    expect(unexpected).toEqual([]);
    expect([...new Set(taken)].sort()).toEqual(IDL.instructions.map(({ name }) => name).sort());
    // Of invariants: invariants.test.ts. All other errors are met here, or in a case of their own.
    const missed = [...returnableErrors()].flatMap(([name, errors]) =>
      allErrors(errors)
        .filter((error) => !invariantErrors(errors).includes(error))
        .filter((error) => !met.get(name)?.has(error) && !errorsOfCases(name).has(error))
        .filter((error) => !isUnreachable(name, error))
        .map((error) => `${name}: ${error}`),
    );
    expect(missed).toEqual([]);
  }, 300_000);
});

describe('the errors read from the Rust source', () => {
  const returnable = [...returnableErrors()];

  it('are all errors of the program, with two of its dispatch', () => {
    const found = new Set(returnable.flatMap(([, errors]) => allErrors(errors)));
    const ofDispatch = ['EventAuthorityRequired', 'UnknownInstruction'];
    expect([...found, ...ofDispatch].sort()).toEqual(Object.keys(EscrowErrorCode).sort());
  });

  it('include every error that is listed as unreachable', () => {
    const known = new Map(returnable.map(([name, errors]) => [name, allErrors(errors)]));
    const stale = Object.entries(UNREACHABLE).flatMap(([name, reasons]) =>
      Object.keys(reasons).filter((error) => !known.get(name)?.includes(error)),
    );
    expect(stale).toEqual([]);
  });
});

describe('the program', () => {
  it('refuses an unknown instruction', async () => {
    const world = await createBareWorld();
    const unknown = withData(initializeInstruction(world), Buffer.alloc(8, 7));
    await expectRefusal(world, 'UnknownInstruction', unknown);
  });
});
