import {
  evidenceIn,
  isRequest,
  readAnswer,
  readRequest,
  SavedFileError,
} from '@svc-inference/client/verify';
import type { Fields } from './fields.ts';

/** What a saved file changes in the form, and what it is in a sentence. */
export interface Taken {
  readonly said: string;
  readonly isUsed: boolean;
  change(fields: Fields): Fields;
}

/** Reads what a file holds for the form: a saved answer, or the request that was sent. */
export function takeFile(file: string, bytes: Uint8Array): Taken {
  try {
    return isRequest(bytes) ? takeRequest(file, bytes) : takeAnswer(file, bytes);
  } catch (error) {
    if (!(error instanceof SavedFileError)) throw error;
    const { message, jobId } = error;
    return {
      said: `${file} cannot be used. ${message}`,
      isUsed: false,
      change: (fields) => (jobId === undefined ? fields : withNamed(fields, jobId)),
    };
  }
}

function takeRequest(file: string, bytes: Uint8Array): Taken {
  const content = readRequest(bytes);
  const count = content.messages.length;
  return {
    said: `${file} is a request with ${count === 1 ? 'one message' : `${count} messages`}.`,
    isUsed: true,
    change: (fields) => ({ ...fields, request: { file, content } }),
  };
}

function takeAnswer(file: string, bytes: Uint8Array): Taken {
  const saved = readAnswer(bytes);
  const { jobId, wallet, text, svc } = saved;
  const { output, answer: content } = evidenceIn(saved);
  const limits = svc ? '' : ' It has no svc: only its job and its text are checked.';
  return {
    said: `${file} is the answer of ${jobId}.${limits}`,
    isUsed: true,
    change: (fields) => ({
      ...fields,
      named: jobId,
      wallet: wallet ?? (fields.named.trim() === jobId ? fields.wallet : ''),
      hasText: output !== undefined,
      text,
      receipt: svc?.delivery_receipt ?? '',
      salt: svc?.request_salt ?? '',
      answer: { file, content },
    }),
  };
}

/** The form for this job; what another job's answer says of itself is not of this one. */
export function withNamed(fields: Fields, named: string): Fields {
  const { answer } = fields;
  const isOfAnswer = answer?.content?.job_id === named.trim();
  return { ...fields, named, answer: isOfAnswer ? answer : undefined };
}

/** The form without a saved answer, and without what it brought. */
export function withoutAnswer(fields: Fields): Fields {
  return { ...fields, answer: undefined, hasText: false, text: '', receipt: '', salt: '' };
}
