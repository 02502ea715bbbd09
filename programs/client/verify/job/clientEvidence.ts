import { hexToBytes, utf8 } from '../../platform/bytes.ts';
import type { SavedAnswer } from '../answer/readAnswer.ts';
import type { SentRequest } from '../answer/sentRequest.ts';
import type { Statement } from '../answer/statement.ts';

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
  /** The card of the job's model, as JSON. */
  readonly card?: string | undefined;
  /** What the answer says of its job. */
  readonly answer?: Statement | undefined;
}

/** What a saved answer gives to compare. */
export function evidenceIn({ text, model, svc, usage }: SavedAnswer): ClientEvidence {
  return {
    output: text === undefined ? undefined : utf8(text),
    receipt: svc?.delivery_receipt,
    salt: svc?.request_salt === undefined ? undefined : hexToBytes(svc.request_salt),
    answer: svc && { ...svc, ...usage, ...(model !== undefined && { model }) },
  };
}
