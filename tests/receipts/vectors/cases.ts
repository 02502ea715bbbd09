import type { Json } from '../../../programs/client/proof.ts';
import type {
  REQUEST_FIELDS,
  RESPONSES_FIELDS,
} from '../../../programs/client/verify/answer/requestFields.ts';
import type { LedgerSnapshot, SnapshotChanges } from './snapshot.ts';

/** What a verification must say of a job: the names of its checks, in the order of the rules. */
export interface ExpectedVerdict {
  readonly result: 'holds' | 'fails' | 'not_checkable';
  readonly failing: readonly string[];
  readonly not_checkable: readonly string[];
}

/** What a client may hold beside the ledger. */
export interface ClientParts {
  /** The text as it was received. */
  readonly output?: string;
  readonly receipt?: string;
  /** The JSON of the request, as its client sent it. */
  readonly request?: string;
  /** 64 hex digits, as the next. */
  readonly salt?: string;
  readonly answer_details?: string;
  /** The JSON of the card of the job's model. */
  readonly card?: string;
}

/** A job, or a saved answer that names one, in the sight of one node. */
export interface JobCase extends ClientParts {
  readonly kind: 'job';
  readonly name: string;
  /** The name of a shared snapshot. */
  readonly node: string;
  /** What this node says otherwise. */
  readonly changes?: SnapshotChanges;
  /** The address; absent where the answer names the job. */
  readonly job?: string;
  /** A saved answer, as it is. */
  readonly answer?: string;
  readonly expected: ExpectedVerdict | Refused;
}

export const REFUSED = { refused: true } as const;
type Refused = typeof REFUSED;

/** One function of the format: its inputs, and its result or that it refuses them. */
interface UnitCase<Kind extends string, Input, Expected> {
  readonly kind: Kind;
  readonly name: string;
  readonly input: Input;
  readonly expected: Expected | Refused;
}

/** Keys and addresses are base58, bytes are hex; a 64-bit number is its decimal text. */
export type AnyUnitCase =
  | UnitCase<'canonical_json', { readonly json: string }, { readonly canonical: string }>
  | UnitCase<
      'commitment',
      { readonly salt: string; readonly request: string },
      { readonly commitment: string }
    >
  | UnitCase<
      'job_id',
      { readonly job_id: string; readonly wallet: string },
      { readonly bytes: string; readonly credit_account: string; readonly address: string }
    >
  | UnitCase<'proof_message', ProofInput, { readonly message: string; readonly sha256: string }>
  | UnitCase<
      'receipt_message',
      { readonly job: string; readonly output_hash: string; readonly statement: string },
      { readonly message: string; readonly sha256: string }
    >
  | UnitCase<
      'statement',
      StatementInput,
      { readonly answer_details: string; readonly statement: string }
    >
  | UnitCase<
      'receipt',
      { readonly receipt: string },
      { readonly signer: string; readonly signature: string }
    >
  | UnitCase<
      'signature',
      { readonly public_key: string; readonly message: string; readonly signature: string },
      { readonly holds: boolean }
    >
  | UnitCase<'answer', { readonly saved: string } | { readonly bytes: string }, AnswerResult>
  | UnitCase<'request', RequestInput, { readonly commitment: string }>
  | UnitCase<
      'event',
      { readonly data: string },
      { readonly name: string; readonly fields: Readonly<Record<string, unknown>> }
    >;

export interface ProofInput {
  readonly job: string;
  readonly worker: string;
  readonly attempt: number;
  readonly output_hash: string;
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly statement: string;
}

/** Half of a statement, and what the other half is the hash of. */
export interface StatementInput {
  readonly request_commitment: string;
  readonly details: {
    readonly finish_reason: string;
    readonly truncated: string | null;
    readonly reasoning: string;
    readonly tool_calls: readonly Json[];
  };
}

/** What is read of a saved answer; null where it does not say. */
interface AnswerResult {
  readonly job_id: string;
  readonly wallet: string | null;
  readonly text: string | null;
  readonly request_salt: string | null;
  readonly delivery_receipt: string | null;
  /** The hash of what stands in the file beside the text. */
  readonly details: string | null;
}

/** A request's body as it was sent, and what was locked. */
export interface RequestInput {
  readonly request: string;
  readonly salt: string;
  readonly token_limit: number;
}

export type VectorCase = AnyUnitCase | JobCase;

/** The file. */
export interface Vectors {
  readonly version: 1;
  /** What was drawn, but for the ledgers' times and keys, which are always new. */
  readonly seed: number;
  readonly program_id: string;
  /** What becomes of each field of a request. */
  readonly request_fields: typeof REQUEST_FIELDS;
  /** The same of what only a request of responses has. */
  readonly responses_fields: typeof RESPONSES_FIELDS;
  readonly nodes: Readonly<Record<string, LedgerSnapshot>>;
  readonly cases: readonly VectorCase[];
}

/** One case or transaction a line, so that a change of the file can be read. */
export function formatVectors({ nodes, cases, ...head }: Vectors): string {
  const lines = (entries: readonly string[], indent: string) => entries.join(`,\n${indent}`);
  const entry = ([name, value]: [string, unknown]) =>
    `${JSON.stringify(name)}: ${JSON.stringify(value)}`;
  const block = (part: object, indent: string) =>
    `{\n${indent}  ${lines(Object.entries(part).map(entry), `${indent}  `)}\n${indent}}`;
  const nodeText = ({ transactions, accounts, signatures, ...rest }: LedgerSnapshot) => {
    const parts = Object.entries({ transactions, accounts, signatures }).map(
      ([name, part]) => `"${name}": ${block(part, '      ')}`,
    );
    return `{\n      ${lines([...Object.entries(rest).map(entry), ...parts], '      ')}\n    }`;
  };
  const shared = Object.entries(nodes).map(
    ([name, node]) => `${JSON.stringify(name)}: ${nodeText(node)}`,
  );
  return `{
  ${lines(Object.entries(head).map(entry), '  ')},
  "nodes": {
    ${lines(shared, '    ')}
  },
  "cases": [
    ${lines(
      cases.map((one) => JSON.stringify(one)),
      '    ',
    )}
  ]
}
`;
}
