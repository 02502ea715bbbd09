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
import { rolesOf, withKeys } from './tampering.ts';
import type { Step } from './walkthrough.ts';

/** An instruction with one account in a role that is not its own. */
export interface Confusion {
  /** The role and what took it. */
  title: string;
  instruction: TransactionInstruction;
  /** The name of the refusal; undefined where any named one will do. */
  refusal?: string | undefined;
}

/** Never read in these roles: only the address counts. */
const BY_ADDRESS = new Set(['worker_unhost.model', 'claim_pay.treasury', 'model_upsert.model']);
/** The gateway is looked at only if it is the one that the other accounts name. */
const OPTIONAL = new Set(['gateway']);
const UNIQUE = new Set(['config', 'treasury']);

/** Copies of an account of the program that are not it, and why each is refused. */
const forgeries: {
  title: string;
  refusal: string;
  forge(account: AccountInfo<Uint8Array>): AccountInfo<Uint8Array>;
  suits?(role: string): boolean;
}[] = [
  {
    title: 'a copy that another program owns',
    refusal: 'WrongAccountOwner',
    forge: (account) => ({ ...account, owner: HOSTILE_PROGRAM_ID }),
  },
  {
    title: 'a copy of another kind',
    refusal: 'WrongDiscriminator',
    forge: (account) => ({ ...account, data: patched(account.data, 0) }),
  },
  {
    title: 'a copy of another version',
    refusal: 'WrongDiscriminator',
    forge: (account) => ({ ...account, data: patched(account.data, 8) }),
  },
  {
    title: 'a copy that is a byte longer',
    refusal: 'WrongDiscriminator',
    forge: (account) => ({ ...account, data: Buffer.concat([account.data, Buffer.alloc(1)]) }),
  },
  {
    title: 'a copy at another address',
    refusal: 'WrongAddress',
    forge: (account) => account,
    suits: (role) => UNIQUE.has(role),
  },
];

const patched = (data: Uint8Array, at: number): Uint8Array => {
  const changed = Uint8Array.from(data);
  changed[at] = (changed[at] as number) ^ 1;
  return changed;
};

/** Every instruction that differs from the step's in what stands in for one account. */
export async function confuse(
  { world, name, instructions }: Step,
  { outsider, accounts }: Others,
): Promise<Confusion[]> {
  const { chain } = world;
  const valid = instructions.at(-1) as TransactionInstruction;
  const roles = rolesOf(name);
  const confusions: Confusion[] = [];
  for (const [position, role] of roles.entries()) {
    // What has one possible address is compared with it; accounts.test.ts shows that.
    if (role.address !== undefined) continue;
    const own = valid.keys[position]?.pubkey as PublicKey;
    const replaced = (change: Partial<AccountMeta>): TransactionInstruction =>
      withKeys(valid, (keys) =>
        keys.map((key, index) => (index === position ? { ...key, ...change } : key)),
      );
    for (const [index, { name: other, address }] of roles.entries()) {
      const { pubkey, isSigner } = valid.keys[index] as AccountMeta;
      // The runtime itself lets no instruction write to a program, no matter what an instruction says.
      if (pubkey.equals(own) || address !== undefined) continue;
      const mayStand = isSigner || !role.signer;
      confusions.push({
        title: `${role.name} = ${other}`,
        instruction: replaced(mayStand ? { pubkey } : { pubkey, isSigner: false }),
        refusal: mayStand ? undefined : 'MissingSigner',
      });
    }
    if (role.signer) {
      confusions.push({
        title: `${role.name} = an outsider`,
        instruction: replaced({ pubkey: outsider.publicKey }),
      });
    }
    const account = await chain.account(own);
    if (account === null || !account.owner.equals(PROGRAM_ID)) continue;
    const kind = decodeAccount(account.data).name;
    const another = accounts[kind];
    if (another !== undefined) {
      const title = `${role.name} = another ${kind}`;
      confusions.push({ title, instruction: replaced({ pubkey: another }) });
    }
    if (BY_ADDRESS.has(`${name}.${role.name}`) || OPTIONAL.has(role.name)) continue;
    for (const { title, refusal, forge, suits = () => true } of forgeries) {
      if (!suits(role.name)) continue;
      const pubkey = addressOf(`${name} ${role.name} ${title}`);
      chain.setAccount(pubkey, forge(account));
      confusions.push({
        title: `${role.name} = ${title}`,
        instruction: replaced({ pubkey }),
        refusal,
      });
    }
  }
  return confusions;
}

/** The instruction without each of its signatures, and without each right to write. */
export function withoutRights({ name, instructions }: Step): Confusion[] {
  const valid = instructions.at(-1) as TransactionInstruction;
  const hasElsewhere =
    (right: 'isSigner' | 'isWritable', position: number) =>
    (key: AccountMeta, index: number): boolean =>
      index !== position &&
      key[right] &&
      key.pubkey.equals(valid.keys[position]?.pubkey ?? key.pubkey);
  const rights = [
    { right: 'isSigner', what: 'does not sign', refusal: 'MissingSigner' },
    { right: 'isWritable', what: 'is read-only', refusal: 'NotWritable' },
  ] as const;
  return rolesOf(name).flatMap((role, position) =>
    rights
      .filter(({ right }) => (right === 'isSigner' ? role.signer : role.writable))
      // A right that the same account has in another role is the account's.
      .filter(({ right }) => !valid.keys.some(hasElsewhere(right, position)))
      .map(({ right, what, refusal }) => ({
        title: `${role.name} ${what}`,
        instruction: withKeys(valid, (keys) =>
          keys.map((key, index) => (index === position ? { ...key, [right]: false } : key)),
        ),
        refusal,
      })),
  );
}

const addressOf = (title: string): PublicKey =>
  Keypair.fromSeed(createHash('sha256').update(title).digest()).publicKey;
