import {
  evidenceIn,
  isRequest,
  readAnswer,
  readRequest,
  SavedFileError,
} from '@svc-inference/client/verify';
import { countOf, countOfCalls } from '../design/formats.ts';
import type { Fields } from './fields.ts';

/** What a saved file changes in the form, and what it is in a sentence. */
export interface Taken {
  readonly said: string;
  readonly isUsed: boolean;
  change(fields: Fields): Fields;
}

/** Reads what a file holds for the form: a saved answer, the request that was sent, or a card. */
export function takeFile(file: string, bytes: Uint8Array | undefined): Taken {
  if (!bytes) return { said: `${file} cannot be read.`, isUsed: false, change: (fields) => fields };
  const text = new TextDecoder().decode(bytes);
  if (isCard(text)) return takeCard(file, text);
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

/** The one field that a model's card alone has. */
function isCard(text: string): boolean {
  try {
    const content: unknown = JSON.parse(text);
    return typeof content === 'object' && content !== null && 'weights_digest' in content;
  } catch {
    return false;
  }
}

function takeCard(file: string, content: string): Taken {
  return {
    said: `${file} is a model's card, which is compared with the pinned one.`,
    isUsed: true,
    change: (fields) => ({ ...fields, card: { file, content } }),
  };
}

function takeRequest(file: string, bytes: Uint8Array): Taken {
  const content = readRequest(bytes);
  const { messages, tools } = content.chat;
  const parts = [
    countOf(messages.length, 'message'),
    ...(Array.isArray(tools) ? [countOf(tools.length, 'tool')] : []),
  ];
  return {
    said: `${file} is a request with ${parts.join(' and ')}.`,
    isUsed: true,
    change: (fields) => ({ ...fields, request: { file, content } }),
  };
}

function takeAnswer(file: string, bytes: Uint8Array): Taken {
  const saved = readAnswer(bytes);
  const { jobId, wallet, text = '', svc } = saved;
  const content = evidenceIn(saved);
  const { output, details } = content;
  const limits = svc ? '' : ' It has no svc: only its job and its text are checked.';
  const what = output ? 'the answer' : 'the error';
  const calls = details?.toolCalls.length ?? 0;
  const compared = ` ${countOfCalls(calls)} ${calls === 1 ? 'is' : 'are'} compared.`;
  return {
    said: `${file} is ${what} of ${jobId}.${limits}${calls > 0 ? compared : ''}`,
    isUsed: true,
    change: (fields) => ({
      ...fields,
      named: jobId,
      wallet: wallet ?? (fields.named.trim() === jobId ? fields.wallet : ''),
      hasText: output !== undefined,
      text,
      receipt: svc?.delivery_receipt ?? '',
      salt: svc?.request_salt ?? '',
      answerDetails: svc?.answer_details ?? '',
      answer: { file, content },
    }),
  };
}

/** The form for this job; what another job's answer brought is not of this one. */
export function withNamed(fields: Fields, named: string): Fields {
  const { answer } = fields;
  const isOther = answer !== undefined && answer.content.answer?.job_id !== named.trim();
  return isOther ? { ...withoutAnswer(fields), wallet: '', named } : { ...fields, named };
}

/** The form without a saved answer, and without what it brought. */
export function withoutAnswer(fields: Fields): Fields {
  const none = { text: '', receipt: '', salt: '', answerDetails: '' };
  return { ...fields, answer: undefined, hasText: false, ...none };
}
