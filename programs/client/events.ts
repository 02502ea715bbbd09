import type { PublicKey } from '@solana/web3.js';
import { createAddresses } from './addresses.ts';
import { DISCRIMINATOR_BYTES, decodeStruct, PROGRAM_EVENTS } from './codec.ts';
import type { EscrowEvent } from './generated/types.ts';
import { decodeBase58 } from './longBase58.ts';

import { startsWithBytes } from './platform/bytes.ts';

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
      /** Missing in versions of unknown form. */
      | { readonly accountKeys?: readonly Key[] };
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
const EVENT_TAG = Uint8Array.of(0xe4, 0x45, 0xa5, 0x2e, 0x51, 0xcb, 0x9a, 0x1d);

/**
 * The program's events in a transaction, in the order of their emission; none if it failed, since
 * then nothing happened. Only calls of the program to itself count. They have its id, Anchor's tag,
 * and as the only account the event authority, for which only the program can sign. Anchor's own event
 * listeners read logs, which anybody can push out of a transaction, and do not see these.
 *
 * @throws Error for an event that this client does not know or cannot read: leaving it out would
 *   corrupt all that is folded from events
 */
export function decodeEvents(
  { transaction, meta }: ExecutedTransaction,
  programId?: PublicKey,
): DecodedEvent[] {
  if (meta === null) throw new Error('The node has no metadata of this transaction');
  if (meta.err !== null) return [];
  const addresses = createAddresses(programId);
  const { message } = transaction;
  const { writable = [], readonly = [] } = meta.loadedAddresses ?? {};
  const ownKeys = 'staticAccountKeys' in message ? message.staticAccountKeys : message.accountKeys;
  const calls = meta.innerInstructions ?? [];
  if (!ownKeys) {
    if (!calls.some(({ instructions }) => instructions.some(isTagged))) return [];
    throw new Error('A call may be an event, but the accounts of the transaction are missing');
  }
  const keys = [...ownKeys, ...writable, ...readonly].map(String);
  const self = addresses.programId.toBase58();
  const authority = addresses.eventAuthority.toBase58();
  return calls.flatMap(({ index, instructions }) =>
    instructions.flatMap(({ programIdIndex, accounts, data }, innerIndex) => {
      // By its key and no index: a node that forges may name a key twice.
      const [only = -1, ...others] = accounts;
      const isEvent = keys[programIdIndex] === self && keys[only] === authority;
      if (!isEvent || others.length > 0) return [];
      const bytes = decodeBase58(data);
      if (!startsWithBytes(bytes, EVENT_TAG)) return [];
      return [{ ...decodeEventData(bytes), instructionIndex: index, innerIndex }];
    }),
  );
}

const isTagged = ({ data }: { readonly data: string }): boolean =>
  startsWithBytes(decodeBase58(data), EVENT_TAG);

/**
 * Reads the data of one call that carries an event, Anchor's tag included.
 *
 * @throws Error when these are not exactly the bytes of an event that this client knows
 */
export function decodeEventData(bytes: Uint8Array): EscrowEvent {
  const kind = PROGRAM_EVENTS.find(({ discriminator }) =>
    startsWithBytes(bytes, discriminator, EVENT_TAG.length),
  );
  if (!startsWithBytes(bytes, EVENT_TAG) || kind === undefined) {
    throw new Error('The program emitted an event that this client does not know');
  }
  const body = bytes.subarray(EVENT_TAG.length + DISCRIMINATOR_BYTES);
  return { name: kind.name, data: readBody(kind.name, body) } as unknown as EscrowEvent;
}

function readBody(name: string, body: Uint8Array) {
  try {
    return decodeStruct(name, body);
  } catch (cause) {
    throw new Error(`The program emitted a ${name} that this client cannot read`, { cause });
  }
}
