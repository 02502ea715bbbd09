import { createHash } from 'node:crypto';
import { base58 } from '@scure/base';
import type { PublicKey } from '@solana/web3.js';
import { coder } from '../../../testing/ledger/anchorCoder.ts';
import { decodeEvent, eventInstructions, forgeAccount } from '../../auditors/forgeries/forge.ts';
import type { InstructionJson, TransactionJson } from '../../auditors/forgeries/node.ts';
import { type LedgerSnapshot, type SnapshotListed, withChanges } from './snapshot.ts';

/** What a node shows otherwise than a shared snapshot. */
export type Change = (node: LedgerSnapshot) => LedgerSnapshot;
/** Names and values as Anchor's coder has them. */
export type Fields = Record<string, unknown>;
type Fieldwise = (fields: Record<string, never>) => Fields;
type Shown = NonNullable<LedgerSnapshot['transactions'][string]>;

const EVENT_TAG = Buffer.from('e445a52e51cb9a1d', 'hex');

export const all =
  (...changes: readonly Change[]): Change =>
  (node) =>
    changes.reduce((changed, change) => change(changed), node);

/** Each transaction that has an event of this name of the job. */
export const inTransaction =
  (job: PublicKey | undefined, event: string, change: (shown: Shown) => Shown | null): Change =>
  (node) => {
    const found = Object.entries(node.transactions).filter(
      ([, shown]) => shown && eventsOf(shown, event, job).length > 0,
    );
    const changed = found.map(([name, shown]) => [name, change(structuredClone(shown as Shown))]);
    return withChanges(node, { transactions: Object.fromEntries(changed) });
  };

/** What a transaction's meta says otherwise. */
export const inMeta = (
  job: PublicKey | undefined,
  event: string,
  change: (meta: TransactionJson['meta'] & Fields) => void,
): Change =>
  inTransaction(job, event, (shown) => {
    change(shown.meta as TransactionJson['meta'] & Fields);
    return shown;
  });

export function eventsOf(shown: object, name: string, job?: PublicKey): InstructionJson[] {
  return eventInstructions(shown as TransactionJson, name).filter(
    (call) => !job || job.equals(fieldsOf(call).job as never),
  );
}

/** What an event says, as Anchor's coder reads it. */
export function fieldsOf(call: InstructionJson): Record<string, never> {
  const event = decodeEvent(call);
  if (!event) throw new Error('it is no event');
  return event.data as Record<string, never>;
}

/** Fields of an event of a job; of every job without one. */
export const inEvent = (job: PublicKey | undefined, name: string, change: Fieldwise): Change =>
  inTransaction(job, name, (shown) => {
    for (const call of eventsOf(shown, name, job)) {
      const fields = fieldsOf(call);
      call.data = encodeEvent(name, { ...fields, ...change(fields) });
    }
    return shown;
  });

/** Another event in the place of one, made of an event of that kind that the node has. */
export const inPlaceOf =
  (job: PublicKey, name: string, other: string, change: Fieldwise = () => ({})): Change =>
  (node) =>
    inTransaction(job, name, (shown) => {
      for (const call of eventsOf(shown, name, job)) {
        const fields = fieldsOf(call);
        const kept = ['slot', 'unix_time', 'job', 'job_sequence', 'job_id'] as const;
        const own = Object.fromEntries(kept.map((field) => [field, fields[field]]));
        const template = { ...anyEvent(node, other), ...own } as Record<string, never>;
        call.data = encodeEvent(other, { ...template, ...change(fields) });
      }
      return shown;
    })(node);

export function anyEvent(node: LedgerSnapshot, name: string, job?: PublicKey): Fields {
  const [call] = Object.values(node.transactions).flatMap((shown) =>
    shown ? eventsOf(shown, name, job) : [],
  );
  if (!call) throw new Error(`no transaction has a ${name}`);
  return fieldsOf(call);
}

export function encodeEvent(name: string, fields: Fields): string {
  const discriminator = createHash('sha256').update(`event:${name}`).digest().subarray(0, 8);
  return base58.encode(Buffer.concat([EVENT_TAG, discriminator, coder.types.encode(name, fields)]));
}

/** Fields of an account of the program. */
export const inAccount =
  (address: PublicKey, name: string, change: Fieldwise): Change =>
  (node) => {
    const key = address.toBase58();
    const held = structuredClone(node.accounts[key] ?? null);
    const { account } = forgeAccount(address, name, change);
    const changed = account?.(held as never, key) as LedgerSnapshot['accounts'][string];
    return withChanges(node, { accounts: { [key]: changed } });
  };

export function fieldsOfAccount(node: LedgerSnapshot, address: PublicKey, name: string): Fields {
  const [base64 = ''] = node.accounts[address.toBase58()]?.data ?? [];
  return coder.accounts.decode(name, Buffer.from(base64, 'base64')) as Fields;
}

/** An account in another form, or none. */
export const withAccount =
  (
    address: PublicKey,
    change: (held: NonNullable<LedgerSnapshot['accounts'][string]>, bytes: Buffer) => object | null,
  ): Change =>
  (node) => {
    const key = address.toBase58();
    const held = node.accounts[key];
    if (!held) throw new Error(`no account at ${key}`);
    const bytes = Buffer.from(held.data[0], 'base64');
    return withChanges(node, { accounts: { [key]: change(held, bytes) as never } });
  };

export const inList =
  (
    address: PublicKey,
    change: (rows: readonly SnapshotListed[]) => readonly SnapshotListed[],
  ): Change =>
  (node) => {
    const key = address.toBase58();
    return withChanges(node, { signatures: { [key]: change(node.signatures[key] ?? []) } });
  };

export const later =
  (seconds: number): Change =>
  (node) => ({ ...node, unix_time: node.unix_time + seconds });
