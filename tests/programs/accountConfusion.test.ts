import { describe, expect, it } from '@jest/globals';
import { type Keypair, SystemProgram, type TransactionInstruction } from '@solana/web3.js';
import { EscrowErrorCode, IDL } from '../../programs/client/index.ts';
import { type Chain, startChain } from '../../testing/chain.ts';
import {
  callThrough,
  HOSTILE_PROGRAM_ID,
  hostileProgram,
} from '../../testing/ledger/hostileCaller.ts';
import { type Confusion, confuse, withoutRights } from './support/confusion.ts';
import { type Others, openOthers } from './support/others.ts';
import { type Step, walkThrough } from './support/walkthrough.ts';
import type { World } from './support/world.ts';

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
/** Whose tokens they are, SPL Token itself decides, which also knows delegates: OwnerMismatch. */
const refusedBySplToken = new Set([
  'credit_buy: buyer = an outsider',
  'stake_deposit: depositor = an outsider',
]);

/** What a ledger keeps of an account that is not there. */
const NONE = {
  lamports: 0,
  data: new Uint8Array(),
  owner: SystemProgram.programId,
  executable: false,
};

const named = new Set(Object.keys(EscrowErrorCode));

const isExpected = (title: string, { refusal }: Confusion, outcome: string): boolean => {
  if (title in permitted || isUnread(title)) return outcome === 'taken';
  if (refusedBySplToken.has(title)) return outcome.endsWith('custom program error: 0x4');
  return refusal === undefined ? named.has(outcome) : outcome === refusal;
};

/** Sends the step with another last instruction, signed by the keys that it needs. */
const attempt = async (
  { world, instructions, signers }: Step,
  { outsider }: Others,
  last: TransactionInstruction,
): Promise<string> => {
  const sent = [...instructions.slice(0, -1), last];
  const asksFor = (signer: Keypair): boolean =>
    sent.some(({ keys }) =>
      keys.some(({ isSigner, pubkey }) => isSigner && pubkey.equals(signer.publicKey)),
    );
  return world.chain.send(sent, [...signers, outsider].filter(asksFor)).then(
    () => 'taken',
    (error: Error) => error.message,
  );
};

/** What is taken although it is not the step itself must leave no trace for the next attempt. */
async function undone<Result>(
  { chain }: World,
  { keys }: TransactionInstruction,
  act: () => Promise<Result>,
): Promise<Result> {
  const before = await Promise.all(keys.map(({ pubkey }) => chain.account(pubkey)));
  const result = await act();
  for (const [index, { pubkey }] of keys.entries()) {
    chain.setAccount(pubkey, before[index] ?? NONE);
  }
  return result;
}

async function startWithHostileProgram(): Promise<Chain> {
  const chain = await startChain();
  chain.setAccount(HOSTILE_PROGRAM_ID, hostileProgram());
  return chain;
}

describe('every instruction', () => {
  it('refuses every account in another’s role, from signers and programs', async () => {
    const unexpected: string[] = [];
    const taken: string[] = [];
    const worlds = new Map<World, Others>();
    await walkThrough(async (step) => {
      const { world, name, instructions, signers } = step;
      const others = worlds.get(world) ?? (await openOthers(world, name));
      worlds.set(world, others);
      const tryOut = async (confusion: Confusion, last: TransactionInstruction) => {
        const title = `${name}: ${confusion.title}`;
        const act = () => attempt(step, others, last);
        const outcome = await (title in permitted || isUnread(title)
          ? undone(world, last, act)
          : act());
        if (!isExpected(title, confusion, outcome)) unexpected.push(`${title}: ${outcome}`);
      };
      for (const confusion of await confuse(step, others)) {
        await tryOut(confusion, confusion.instruction);
        await tryOut(confusion, callThrough(confusion.instruction));
      }
      // At top level accounts.test.ts shows the same.
      for (const confusion of withoutRights(step)) {
        await tryOut(confusion, callThrough(confusion.instruction));
      }
      const valid = instructions.at(-1) as TransactionInstruction;
      await world.chain.send([...instructions.slice(0, -1), callThrough(valid)], signers);
      taken.push(name);
    }, startWithHostileProgram);
    expect(unexpected).toEqual([]);
    expect([...new Set(taken)].sort()).toEqual(IDL.instructions.map(({ name }) => name).sort());
  }, 300_000);
});
