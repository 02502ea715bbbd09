import type { PublicKey } from '@solana/web3.js';
import { coder } from '../../../testing/ledger/anchorCoder.ts';
import {
  decodeEvent,
  encodeEvent,
  type Fields,
  type Fieldwise,
  fieldsOf,
  type InstructionJson,
} from './fields.ts';
import {
  jsonTransaction,
  type LedgerSnapshot,
  type SnapshotListed,
  snapshotTransaction,
  withChanges,
} from './snapshot.ts';

/** What a node shows otherwise than a shared snapshot. */
export type Change = (node: LedgerSnapshot) => LedgerSnapshot;
type Shown = NonNullable<LedgerSnapshot['transactions'][string]>;

/** A transaction as a node's JSON has it, as far as it is changed here. */
export interface TransactionJson {
  transaction: {
    signatures: string[];
    message: { accountKeys: string[]; instructions: InstructionJson[] };
  };
  meta: {
    err: unknown;
    fee: number;
    innerInstructions: { index: number; instructions: InstructionJson[] }[];
    preBalances: number[];
    postBalances: number[];
    postTokenBalances: { uiTokenAmount: { amount: string } }[];
  };
}
export type Meta = TransactionJson['meta'];

export const all =
  (...changes: readonly Change[]): Change =>
  (node) =>
    changes.reduce((changed, change) => change(changed), node);

/** Each transaction that has an event of this name of the job; of every job without one. */
export const inTransaction =
  (job: PublicKey | undefined, event: string, change: (shown: Shown) => Shown | null): Change =>
  (node) => {
    const found = Object.entries(node.transactions).filter(
      ([, shown]) => shown && eventsOf(shown, event, job).length > 0,
    );
    const changed = found.map(([name, shown]) => [name, change(structuredClone(shown as Shown))]);
    return withChanges(node, { transactions: Object.fromEntries(changed) });
  };

/** The same in a node's JSON, with its signatures and calls. */
export const inJson = (
  job: PublicKey | undefined,
  event: string,
  change: (shown: TransactionJson) => void,
): Change =>
  inTransaction(job, event, (shown) => {
    const json = jsonTransaction(shown);
    change(json as unknown as TransactionJson);
    return snapshotTransaction(json);
  });

/** What a transaction's meta says otherwise. */
export const inMeta = (
  job: PublicKey | undefined,
  event: string,
  change: (meta: Meta) => void,
): Change =>
  inTransaction(job, event, (shown) => {
    change(shown.meta as Meta);
    return shown;
  });

/** The calls below a transaction's instructions that carry an event of this name. */
export function eventsOf(shown: object, name: string, job?: PublicKey): InstructionJson[] {
  return (shown as TransactionJson).meta.innerInstructions
    .flatMap(({ instructions }) => instructions)
    .filter((call) => decodeEvent(call)?.name === name)
    .filter((call) => !job || job.equals(fieldsOf(call).job as never));
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

/** Fields of an account of the program. */
export const inAccount = (address: PublicKey, name: string, change: Fieldwise): Change =>
  withAccount(address, (held, bytes) => {
    const fields = coder.accounts.decode(name, bytes) as Record<string, never>;
    const body = coder.types.encode(name, { ...fields, ...change(fields) });
    const data = Buffer.concat([bytes.subarray(0, 8), body]);
    return { ...held, data: [data.toString('base64'), 'base64'] };
  });

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
