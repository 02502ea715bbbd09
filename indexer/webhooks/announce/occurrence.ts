import type { Tier } from '../../../programs/client/vocabulary.ts';
import type { EventKind } from '../../../webhooks/eventKinds.ts';
import type { EventOf } from '../../apply/change.ts';
import type { LedgerEvent } from '../../decode.ts';

/** Something that webhooks are told of. */
export interface Occurrence {
  readonly kind: EventKind;
  /** The ledger's event that it follows from. */
  readonly event: LedgerEvent;
  /** Whose webhooks are told; null: everybody's. */
  readonly wallet: string | null;
  readonly data: Readonly<Record<string, unknown>>;
}

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
) => Omit<Occurrence, 'event'> | null;
