import { type ClientEvidence, PROGRAM_ID, type SentRequest } from '@svc-inference/client/verify';
import type { Request, Saved } from '../verification/verify.ts';

/** What the form holds. */
export interface Fields {
  readonly named: string;
  readonly wallet: string;
  readonly rpcUrl: string;
  readonly programId: string;
  readonly secondUrl: string;
  readonly hasText: boolean;
  readonly text: string;
  readonly receipt: string;
  readonly salt: string;
  readonly answerDetails: string;
  readonly answer: Saved<ClientEvidence> | undefined;
  readonly request: Saved<SentRequest> | undefined;
  /** As JSON. */
  readonly card: Saved<string> | undefined;
}

/** The fields of one line, and the text. */
export type TextName = Exclude<keyof Fields, 'hasText' | 'answer' | 'request' | 'card'>;

/** What the page begins with: the job of its path, and what stands behind its `#` or in its head. */
export function readAddress(): Fields {
  const facts = new URLSearchParams(location.hash.slice(1));
  const meta = (name: string) =>
    document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content ?? '';
  const [, , named = ''] = location.pathname.split('/');
  return {
    named: decode(named),
    wallet: facts.get('wallet') ?? '',
    rpcUrl: facts.get('rpc') || meta('svc-rpc'),
    programId: facts.get('program') || meta('svc-program') || PROGRAM_ID.toBase58(),
    secondUrl: '',
    hasText: false,
    text: '',
    receipt: '',
    salt: '',
    answerDetails: '',
    answer: undefined,
    request: undefined,
    card: undefined,
  };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function requestOf({ hasText, text, ...fields }: Fields): Request {
  return {
    ...fields,
    rpcUrl: fields.rpcUrl.trim(),
    wallet: fields.wallet.trim() || undefined,
    text: hasText ? text : undefined,
    receipt: fields.receipt.trim() || undefined,
    salt: fields.salt.trim() || undefined,
    answerDetails: fields.answerDetails.trim() || undefined,
  };
}
