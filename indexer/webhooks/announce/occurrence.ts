import type { Tier } from '../../../programs/client/vocabulary.ts';
import type { EventData, EventKind } from '../../../webhooks/events.ts';
import type { EventOf } from '../../apply/change.ts';
import type { LedgerEvent } from '../../decode.ts';

/** What webhooks are told, with what the types of those who receive it say of its kind. */
export type Notice = {
  [Kind in EventKind]: {
    readonly kind: Kind;
    /** Whose webhooks are told; null: everybody's. */
    readonly wallet: string | null;
    readonly data: Readonly<EventData[Kind]>;
  };
}[EventKind];

/** A notice, and the ledger's event that it follows from. */
export type Occurrence = Notice & { readonly event: LedgerEvent };

/** What a job keeps all its life. */
export interface JobFacts {
  readonly wallet: string;
  readonly model_id: string;
  readonly tier: Tier;
}

/** What events refer to without saying it. */
export interface Facts {
  /** By address. */
  readonly jobs: ReadonlyMap<string, JobFacts>;
  /** Model ids by address. */
  readonly modelIds: ReadonlyMap<string, string>;
  /** All events that are announced together. */
  readonly events: readonly LedgerEvent[];
}

/** What one kind of ledger event is to a webhook; null for one that none is told of. */
export type Describe<Name extends LedgerEvent['name']> = (
  event: EventOf<Name>,
  facts: Facts,
) => Notice | null;
