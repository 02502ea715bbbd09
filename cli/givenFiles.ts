import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import type { SavedAnswer } from '../programs/client/verify/answer/readAnswer.ts';
import { SavedFileError } from '../programs/client/verify/answer/savedFile.ts';
import { readRequest } from '../programs/client/verify/answer/sentRequest.ts';
import { type ClientEvidence, evidenceIn } from '../programs/client/verify/job/clientEvidence.ts';
import { asCommandError, messageOf } from './terminal/asCommandError.ts';

/** What `svc verify` is given to compare, besides a saved answer. Files may be `-`, standard input. */
export interface GivenOptions {
  readonly request?: string;
  readonly salt?: Uint8Array;
  readonly answerDetails?: Uint8Array;
  readonly output?: string;
  readonly receipt?: string;
  readonly card?: string;
  readonly maxBytes: number;
}

/** What the command was given to compare. An option of its own goes before the saved answer. */
export async function readClient(
  { output, receipt, request, salt, answerDetails, card, maxBytes }: GivenOptions,
  answer: SavedAnswer | undefined,
): Promise<ClientEvidence> {
  const saved: ClientEvidence = answer ? evidenceIn(answer) : {};
  if (answer && !answer.svc) {
    console.error('The answer has no svc: only its job and its text are checked.');
  }
  if (answer && answer.text === undefined) {
    console.error('The answer is an error: no text is compared.');
  }
  return {
    ...saved,
    ...(output !== undefined && { output: await readBytes(output) }),
    // It may come from a file of headers, whose lines end in CR LF.
    ...(receipt !== undefined && { receipt: receipt.trim() }),
    ...(salt && { salt }),
    ...(answerDetails && { answerDetails }),
    request: await readSaved(request, (bytes) => readRequest(bytes, maxBytes)),
    card: card === undefined ? undefined : new TextDecoder().decode(await readBytes(card)),
  };
}

/** @throws CommandError for a file that cannot be read, or used */
export async function readSaved<Saved>(
  file: string | undefined,
  read: (bytes: Uint8Array) => Saved,
): Promise<Saved | undefined> {
  if (file === undefined) return undefined;
  const bytes = await readBytes(file);
  const name = file === '-' ? 'Standard input' : file;
  const isOurs = messageOf(SavedFileError);
  return asCommandError(
    () => read(bytes),
    (error) => isOurs(error) && `${name} cannot be used. ${error.message}`,
  );
}

async function readBytes(file: string): Promise<Uint8Array> {
  if (file === '-') return buffer(process.stdin);
  return asCommandError(
    () => readFile(file),
    ({ message }) => `${file} cannot be read: ${message}`,
  );
}
