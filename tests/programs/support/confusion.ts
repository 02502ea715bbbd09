import { createHash } from 'node:crypto';
import {
  type AccountInfo,
  type AccountMeta,
  Keypair,
  type PublicKey,
  type TransactionInstruction,
} from '@solana/web3.js';
import { decodeAccount, PROGRAM_ID } from '../../../programs/client/index.ts';
import { HOSTILE_PROGRAM_ID } from '../../../testing/ledger/hostileCaller.ts';
import type { Others } from './others.ts';
import { type AccountRole, rolesOf, withData, withKeys } from './tampering.ts';
import type { Step } from './walkthrough.ts';
import { addresses } from './world.ts';

/** An instruction with one fault: in its data, or in one of its accounts. */
export interface Confusion {
  /** The role and what took it. */
  title: string;
  instruction: TransactionInstruction;
  /** The name of the refusal; undefined where any named one will do. */
  refusal?: string | RegExp | undefined;
  /** Where both ways would show the same, or only a call by another program can have the fault. */
  only?: 'client' | 'call' | undefined;
}

/** These are created by the instruction, so what matters about them is their address. */
const CREATED: Record<string, string[]> = {
  config_initialize: ['config', 'treasury', 'vault', 'treasury_vault', 'stake_vault'],
  gateway_open: ['gateway'],
  credit_open: ['credit_account'],
  worker_register: ['worker'],
  job_lock: ['job'],
};
/** Never read in these roles: only the address counts, which for the first two is the only one. */
const BY_ADDRESS = ['claim_pay.treasury', 'model_upsert.model', 'worker_unhost.model'];
/** Known by their only address, besides the accounts whose address the IDL names. */
const FIXED = [
  ...'event_authority vault_authority vault treasury_vault stake_vault'.split(' '),
  ...BY_ADDRESS.slice(0, 2),
];
const UNIQUE = new Set(['config', 'treasury']);
/** These sign with rights of their own, which no other key has. */
const GUARDED = new Set('authority arbiter operator wallet pending_authority'.split(' '));
/** Only the address of the account that is created depends on who signs. */
const OPENS_OWN = new Set(['gateway_open', 'worker_register']);

const create = (step: Step, position: number) => {
  const [valid] = step.instructions;
  return (change: Partial<AccountMeta>): TransactionInstruction =>
    withKeys(valid, (keys) =>
      keys.map((key, index) => (index === position ? { ...key, ...change } : key)),
    );
};

/** Every instruction that differs from the step's in its data or in one account. */
export async function confuse(step: Step, others: Others): Promise<Confusion[]> {
  const { world, name, instructions } = step;
  const [{ keys }] = instructions;
  const confusions = [...withOtherData(step), ...withoutRights(step)];
  for (const [position, role] of rolesOf(name).entries()) {
    const own = keys[position]?.pubkey as PublicKey;
    const replaced = create(step, position);
    confusions.push(...atOtherAddress(step, role, replaced));
    // What has one possible address is compared with it, and needs no more.
    if (role.address !== undefined) continue;
    confusions.push(...inOtherRoles(step, position, replaced));
    if (role.signer) confusions.push(...byOthers(step, role, others, replaced));
    confusions.push(...ofOtherTokens(step, role, replaced));
    const account = await world.chain.account(own);
    if (account === null || !account.owner.equals(PROGRAM_ID)) continue;
    const kind = decodeAccount(account.data).name;
    const pubkey = others.accounts[kind];
    if (pubkey !== undefined) {
      const title = `${role.name} = another ${kind}`;
      confusions.push({ title, instruction: replaced({ pubkey }), refusal: 'WrongAddress' });
    }
    if (BY_ADDRESS.includes(`${name}.${role.name}`) || role.optional) continue;
    confusions.push(...forge(step, role, account, replaced));
  }
  return confusions;
}

type Replace = (change: Partial<AccountMeta>) => TransactionInstruction;

function withOtherData({ instructions }: Step): Confusion[] {
  const [valid] = instructions;
  const { data } = valid;
  const others: [title: string, data: Uint8Array][] = [
    ['a byte more of data', Buffer.concat([data, Buffer.alloc(1)])],
    ['no data', new Uint8Array()],
  ];
  if (data.length > 8) others.push(['a byte less of data', data.subarray(0, -1)]);
  const refusal = 'InvalidInstructionData';
  const only = 'client';
  return [
    ...others.map(([title, other]): Confusion => {
      return { title, instruction: withData(valid, other), refusal, only };
    }),
    {
      title: 'an account fewer',
      instruction: withKeys(valid, (keys) => keys.slice(0, -1)),
      refusal: 'MissingAccount',
      only,
    },
  ];
}

/** The instruction without each of its signatures, and without each right to write. */
function withoutRights({ world, name, instructions }: Step): Confusion[] {
  const [valid] = instructions;
  const rights = [
    { right: 'isSigner', what: 'does not sign', refusal: 'MissingSigner' },
    { right: 'isWritable', what: 'is read-only', refusal: 'NotWritable' },
  ] as const;
  return rolesOf(name).flatMap((role, position) => {
    const own = valid.keys[position]?.pubkey as PublicKey;
    const hasElsewhere = (right: 'isSigner' | 'isWritable') =>
      valid.keys.some((key, index) => index !== position && key[right] && key.pubkey.equals(own));
    return (
      rights
        .filter(({ right }) => (right === 'isSigner' ? role.signer : role.writable))
        // A right that the same account has in another role is the account's.
        .filter(({ right }) => !hasElsewhere(right))
        .map(({ right, what, refusal }) => ({
          title: `${role.name} ${what}`,
          instruction: withKeys(valid, (keys) =>
            keys.map((key, index) => (index === position ? { ...key, [right]: false } : key)),
          ),
          refusal,
          // Who pays for a transaction signs it, and is written.
          only: own.equals(world.chain.payer.publicKey) ? ('call' as const) : undefined,
        }))
    );
  });
}

function atOtherAddress({ world, name }: Step, role: AccountRole, replaced: Replace): Confusion[] {
  const isFixed =
    role.address !== undefined ||
    FIXED.includes(role.name) ||
    FIXED.includes(`${name}.${role.name}`) ||
    CREATED[name]?.includes(role.name);
  if (!isFixed) return [];
  const isToken = role.name === 'token_program';
  return [
    {
      title: `${role.name} = any account`,
      instruction: replaced({ pubkey: world.stranger.publicKey }),
      refusal: isToken ? 'WrongTokenProgram' : /WrongAddress|NonCanonicalBump/,
    },
  ];
}

function inOtherRoles({ name, instructions }: Step, position: number, replaced: Replace) {
  const [{ keys }] = instructions;
  const roles = rolesOf(name);
  const own = keys[position]?.pubkey as PublicKey;
  return roles.flatMap(({ name: other, address }, index): Confusion[] => {
    const { pubkey, isSigner } = keys[index] as AccountMeta;
    // The runtime itself lets no instruction write to a program, no matter what an instruction says.
    if (pubkey.equals(own) || address !== undefined) return [];
    const mayStand = isSigner || !roles[position]?.signer;
    const title = `${roles[position]?.name} = ${other}`;
    if (mayStand) return [{ title, instruction: replaced({ pubkey }) }];
    const instruction = replaced({ pubkey, isSigner: false });
    return [{ title, instruction, refusal: 'MissingSigner' }];
  });
}

/** Signed by an outsider, or by each other party where only one has the right. */
function byOthers(
  { world, name, signers }: Step,
  role: AccountRole,
  { outsider }: Others,
  replaced: Replace,
) {
  const instruction = replaced({ pubkey: outsider.publicKey });
  const isGuarded = GUARDED.has(role.name) && !OPENS_OWN.has(name);
  const title = `${role.name} = an outsider`;
  if (!isGuarded) return [{ title, instruction }];
  const refusal = 'Unauthorized';
  const others = world.people.filter((person) => !signers.includes(person));
  return [
    { title, instruction, refusal },
    ...others.map(
      ({ publicKey: pubkey }, index): Confusion => ({
        title: `${role.name} = person ${index}`,
        instruction: replaced({ pubkey }),
        refusal,
        only: 'client',
      }),
    ),
  ];
}

/** The token accounts that others name, of which mint they are. */
const TOKENS: Record<string, 'creditMint' | 'stakeMint'> = {
  'credit_buy.buyer_token_account': 'creditMint',
  'credit_withdraw.destination': 'creditMint',
  'treasury_withdraw.destination': 'creditMint',
  'worker_register.payout': 'creditMint',
  'worker_update.payout': 'creditMint',
  'stake_deposit.depositor_token_account': 'stakeMint',
  'stake_withdraw.destination': 'stakeMint',
};

/** Token accounts that cannot take part in a payment: the escrow's, of another mint, or frozen. */
function ofOtherTokens({ world, name }: Step, role: AccountRole, replaced: Replace): Confusion[] {
  const kind = TOKENS[`${name}.${role.name}`];
  if (kind === undefined) return [];
  const mint = world[kind];
  const isCredit = kind === 'creditMint';
  const { vault, treasuryVault, stakeVault } = addresses;
  const owner = world.stranger.publicKey;
  const other = world.token(isCredit ? world.stakeMint : world.creditMint, owner, 10n ** 12n);
  const frozen = world.token(mint, owner);
  world.chain.setToken(frozen, { mint, owner, baseUnits: 10n ** 12n, frozen: true });
  const substitutes: [title: string, pubkey: PublicKey, refusal: string][] = [
    ['the vault', vault, isCredit ? 'DuplicateAccount' : 'WrongMint'],
    ['the treasury’s vault', treasuryVault, isCredit ? 'DuplicateAccount' : 'WrongMint'],
    ['the stakes’ vault', stakeVault, isCredit ? 'WrongMint' : 'DuplicateAccount'],
    ['tokens of another mint', other, 'WrongMint'],
    ['the mint', mint, 'WrongTokenAccount'],
    ['a key', owner, 'WrongTokenAccount'],
    ['frozen tokens', frozen, 'WrongTokenAccount'],
  ];
  return substitutes.map(([title, pubkey, refusal]) => ({
    title: `${role.name} = ${title}`,
    instruction: replaced({ pubkey }),
    refusal,
  }));
}

const patched = (data: Uint8Array, at: number): Uint8Array => {
  const changed = Uint8Array.from(data);
  changed[at] = (changed[at] as number) ^ 1;
  return changed;
};

/** Copies of an account of the program that are not it. */
function forge(
  { world, name }: Step,
  role: AccountRole,
  account: AccountInfo<Uint8Array>,
  replaced: Replace,
): Confusion[] {
  const { data } = account;
  const longer = Buffer.concat([data, Buffer.alloc(1)]);
  const copies: [title: string, refusal: string, change: Partial<AccountInfo<Uint8Array>>][] = [
    ['that another program owns', 'WrongAccountOwner', { owner: HOSTILE_PROGRAM_ID }],
    ['of another kind', 'WrongDiscriminator', { data: patched(data, 0) }],
    ['of another version', 'WrongDiscriminator', { data: patched(data, 8) }],
    ['that is a byte longer', 'WrongDiscriminator', { data: longer }],
  ];
  if (UNIQUE.has(role.name)) copies.push(['at another address', 'WrongAddress', {}]);
  return copies.map(([what, refusal, change]) => {
    const title = `${role.name} = a copy ${what}`;
    const pubkey = addressOf(`${name} ${title}`);
    world.chain.setAccount(pubkey, { ...account, ...change });
    return { title, instruction: replaced({ pubkey }), refusal };
  });
}

const addressOf = (title: string): PublicKey =>
  Keypair.fromSeed(createHash('sha256').update(title).digest()).publicKey;

/** The accounts that a step creates. */
export function createdBy({ name, instructions }: Step): PublicKey[] {
  const [{ keys }] = instructions;
  const created = rolesOf(name).map((role) => CREATED[name]?.includes(role.name));
  return keys.filter((_, index) => created[index]).map(({ pubkey }) => pubkey);
}

/** The vaults whose freezing an instruction refuses, and how. */
const VAULTS: Record<string, [role: string, refusal: string][]> = {
  credit_buy: [['vault', 'WrongTokenAccount']],
  credit_withdraw: [['vault', 'WrongTokenAccount']],
  treasury_withdraw: [['treasury_vault', 'WrongTokenAccount']],
  stake_deposit: [['stake_vault', 'WrongTokenAccount']],
  stake_withdraw: [['stake_vault', 'WrongTokenAccount']],
  slash_burn: [['stake_vault', 'WrongTokenAccount']],
  claim_pay: [
    ['vault', 'PayeeUnavailable'],
    ['treasury_vault', 'PayeeUnavailable'],
  ],
};

/** Freezes each vault that a step moves tokens of, one after the other. */
export async function withFrozenVaults(
  { world, name }: Step,
  visit: (title: string, refusal: string) => Promise<void>,
): Promise<void> {
  const { chain, creditMint, stakeMint } = world;
  const { vault, treasuryVault, stakeVault, vaultAuthority: owner } = addresses;
  const known: Record<string, PublicKey> = {
    vault,
    treasury_vault: treasuryVault,
    stake_vault: stakeVault,
  };
  for (const [role, refusal] of VAULTS[name] ?? []) {
    const address = known[role] as PublicKey;
    const mint = role === 'stake_vault' ? stakeMint : creditMint;
    const holding = { mint, owner, baseUnits: await chain.tokens(address) };
    chain.setToken(address, { ...holding, frozen: true });
    await visit(`${role} is frozen`, refusal);
    chain.setToken(address, holding);
  }
}
