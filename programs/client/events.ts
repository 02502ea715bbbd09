import type { PublicKey } from '@solana/web3.js';
import { createAddresses } from './addresses.ts';
import { coder, fromCoder } from './codec.ts';
import { decodeBase58 } from './keys.ts';
import type { EscrowEvent } from './types.ts';

export type EventName = EscrowEvent['name'];

/** What each kind of event carries, by the event's name. */
export type Events = { [Event in EscrowEvent as Event['name']]: Event['data'] };

/** An event and its place, which together with the signature identifies it for good. */
export type DecodedEvent = EscrowEvent & {
  /** Position of the top-level instruction in its transaction. */
  instructionIndex: number;
  /** Position among that instruction's inner instructions. */
  innerIndex: number;
};

type Key = PublicKey | string;

/**
 * What is read of a transaction: web3.js's VersionedTransactionResponse, or the JSON of
 * `getTransaction` itself, which also covers transaction versions that web3.js does not know.
 */
export interface ExecutedTransaction {
  readonly transaction: {
    readonly message:
      | { readonly staticAccountKeys: readonly Key[] }
      | { readonly accountKeys: readonly Key[] };
  };
  readonly meta: {
    readonly err: unknown;
    readonly innerInstructions?:
      | readonly {
          readonly index: number;
          readonly instructions: readonly {
            readonly programIdIndex: number;
            readonly accounts: readonly number[];
            readonly data: string;
          }[];
        }[]
      | null;
    readonly loadedAddresses?: {
      readonly writable: readonly Key[];
      readonly readonly: readonly Key[];
    };
  } | null;
}

/** The eight bytes with which Anchor's programs begin a call to themselves that carries an event. */
const EVENT_TAG = Buffer.from([0xe4, 0x45, 0xa5, 0x2e, 0x51, 0xcb, 0x9a, 0x1d]);
const DISCRIMINATOR_BYTES = 8;

/**
 * The program's events in a transaction, in the order of their emission; none if it failed, since
 * then nothing happened. Only calls of the program to itself count: its id, Anchor's tag, and the
 * event authority as the only account, which nobody but the program can make sign. Anchor's own
 * event listeners read logs, which anybody can push out of a transaction, and do not see these.
 *
 * @throws Error for an event that this client does not know or cannot read: leaving it out would
 *   corrupt whatever is folded from events
 */
export function decodeEvents(
  { transaction, meta }: ExecutedTransaction,
  programId?: PublicKey,
): DecodedEvent[] {
  if (meta === null) throw new Error('The ledger did not keep what this transaction did');
  if (meta.err !== null) return [];
  const addresses = createAddresses(programId);
  const { message } = transaction;
  const { writable = [], readonly = [] } = meta.loadedAddresses ?? {};
  const ownKeys = 'staticAccountKeys' in message ? message.staticAccountKeys : message.accountKeys;
  const keys = [...ownKeys, ...writable, ...readonly].map(String);
  const self = keys.indexOf(addresses.programId.toBase58());
  const authority = keys.indexOf(addresses.eventAuthority.toBase58());
  return (meta.innerInstructions ?? []).flatMap(({ index, instructions }) =>
    instructions.flatMap(({ programIdIndex, accounts, data }, innerIndex) => {
      if (programIdIndex !== self || accounts.length !== 1 || accounts[0] !== authority) return [];
      const bytes = decodeBase58(data);
      if (!EVENT_TAG.equals(bytes.subarray(0, EVENT_TAG.length))) return [];
      return [{ ...decodeEventData(bytes), instructionIndex: index, innerIndex }];
    }),
  );
}

/**
 * Reads the data of one call that carries an event, Anchor's tag included.
 *
 * @throws Error when these are not exactly the bytes of an event that this client knows
 */
export function decodeEventData(bytes: Uint8Array): EscrowEvent {
  const data = Buffer.from(bytes);
  const body = data.subarray(EVENT_TAG.length + DISCRIMINATOR_BYTES);
  const event = coder.events.decode(data.subarray(EVENT_TAG.length).toString('base64'));
  if (!data.subarray(0, EVENT_TAG.length).equals(EVENT_TAG) || event === null) {
    throw new Error('The program emitted an event that this client does not know');
  }
  // The coder passes over missing and superfluous bytes.
  if (!coder.types.encode(event.name, event.data).equals(body)) {
    throw new Error(`The program emitted a ${event.name} that this client cannot read`);
  }
  return { name: event.name, data: fromCoder(event.data) } as unknown as EscrowEvent;
}
