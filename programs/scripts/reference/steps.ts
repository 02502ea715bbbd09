/** Something on a handler's way that can end it. */
export type Step = StepKind & {
  /** Conditions under which it is reached at all, outermost first */
  when: string[];
};

type StepKind =
  /** The data is decoded, or the accounts are held against their declared roles */
  | { kind: 'arguments' | 'accounts' }
  | { kind: 'require'; holds: string; names: Meaning[]; error: string }
  /** An account is read as one of the program's kinds */
  | { kind: 'load'; account: string; names: Meaning[]; type: string }
  /** Another program is called, which may refuse */
  | { kind: 'call'; program: string; instruction: string }
  /** The handler ends successfully without a change */
  | { kind: 'done' }
  | { kind: 'overflow' }
  | { kind: 'invariant'; type: string };

/** A name that an expression keeps, and what it stands for. */
export type Meaning = readonly [name: string, meaning: string];

/** Steps with the offset where they are complete: what is written inside one happens before it. */
export interface Placed {
  at: number;
  steps: Step[];
}
