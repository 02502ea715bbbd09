import { hexToBytes, utf8 } from '../../platform/bytes.ts';
import type { AnswerDetails } from '../../statement.ts';
import type { SavedAnswer } from '../answer/readAnswer.ts';
import type { SentRequest } from '../answer/sentRequest.ts';
import type { StatedFields } from '../answer/statedFields.ts';

/** What the client received and sent, to be compared with the ledger. */
export interface ClientEvidence {
  /** The answer's bytes as they were received. */
  readonly output?: Uint8Array | undefined;
  /** As it came in `x-svc-delivery-receipt`. */
  readonly receipt?: string | undefined;
  /** What was asked, as `readRequest` gives it. */
  readonly request?: SentRequest | undefined;
  /** 32 bytes, from the answer: the request is checked by it. */
  readonly salt?: Uint8Array | undefined;
  /** Both halves of the statement, as the answer names them, 32 bytes each. */
  readonly requestCommitment?: Uint8Array | undefined;
  readonly answerDetails?: Uint8Array | undefined;
  /** What the answer says beside its text. */
  readonly details?: AnswerDetails | undefined;
  /** The card of the job's model, as JSON. */
  readonly card?: string | undefined;
  /** What the answer says of its job. */
  readonly answer?: StatedFields | undefined;
}

/** What a saved answer gives to compare. */
export function evidenceIn({ text, details, model, svc, usage }: SavedAnswer): ClientEvidence {
  const bytesOf = (hex: string | undefined) => (hex === undefined ? undefined : hexToBytes(hex));
  return {
    output: text === undefined ? undefined : utf8(text),
    receipt: svc?.delivery_receipt,
    salt: bytesOf(svc?.request_salt),
    requestCommitment: bytesOf(svc?.request_commitment),
    answerDetails: bytesOf(svc?.answer_details),
    // What has no proof has no statement.
    details: svc?.output_hash === undefined ? undefined : details,
    answer: svc && { ...svc, ...usage, ...(model !== undefined && { model }) },
  };
}
