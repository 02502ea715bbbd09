import { parseJobId } from '../../jobId.ts';
import { hasHalfCharacter } from '../../proof.ts';
import type { AnswerDetails } from '../../statement.ts';
import { isLast, joinParts } from './answerParts.ts';
import { eventsIn } from './eventStream.ts';
import { fieldOf, isObject, shown } from './fields.ts';
import { chatPartsOf } from './responsesAnswer.ts';
import { SavedFileError } from './savedFile.ts';
import {
  modelIn,
  type StatedFields,
  statedFieldsIn,
  type Usage,
  usageIn,
  walletIn,
} from './statedFields.ts';
import { assertFew, BYTES_MAX, decode, partHeaders, valuesIn } from './text.ts';

/** An answer as its client kept it. */
export interface SavedAnswer {
  readonly jobId: string;
  /** The whole content, of which the worker proved the sha256; undefined for an error. */
  readonly text: string | undefined;
  /** What it says beside its text; undefined for an error. */
  readonly details: AnswerDetails | undefined;
  readonly model: string | undefined;
  /** What the answer says of its job in `svc`; undefined where it has none. */
  readonly svc: StatedFields | undefined;
  /** What it says of tokens and cost. */
  readonly usage: Usage;
  /** The job's wallet, from `svc.verify_url`. */
  readonly wallet: string | undefined;
}

/**
 * Reads an answer to a chat completion, or of responses, as it was saved. It is the body of a plain
 * answer, the events of a stream, or the chunks that a client made of them. Chunks may be a JSON array,
 * or stand one behind the other. HTTP headers before it and trailers behind it are passed over.
 *
 * @param saved UTF-8, or UTF-16 with its mark
 * @throws SavedFileError whose message says what is missing, and what to do instead
 */
export function readAnswer(saved: Uint8Array | string, bytesMax = BYTES_MAX): SavedAnswer {
  const { body, heads } = partHeaders(decode(saved, bytesMax));
  const isJson = body.startsWith('{') || body.startsWith('[');
  const { values, isCut, others } = isJson ? valuesIn(body) : eventsIn(body);
  const parts = values.flat();
  assertFew(parts);
  if (parts.some((part) => Array.isArray(part) || typeof part === 'string')) {
    throw new SavedFileError('It has a part that is no object.');
  }
  const { parts: items, isTranslated } = chatPartsOf(parts.filter(isObject), !isJson);
  const jobId = jobIdIn(items, [...heads, ...others]);
  const isError = isErrorOf(items, jobId);
  if (isCut) throw new SavedFileError(`${CUT}${ofJob(jobId)}`, jobId);
  if (items.some((item) => Array.isArray(fieldOf(item, 'messages')) && !('choices' in item))) {
    throw new SavedFileError('It is a request, not an answer.');
  }
  const answers = items.filter((item) => fieldOf(item, 'choices') != null);
  if (!answers.every((answer) => Array.isArray(fieldOf(answer, 'choices')))) {
    throw new SavedFileError('Its choices are no list.');
  }
  const { text, ...rest } = isError ? NO_TEXT : textOf(answers, isJson || isTranslated, jobId);
  if (jobId === undefined) throw new SavedFileError(NO_JOB);
  const svc = statedFieldsIn(items);
  if (svc?.output_hash !== undefined && HALVES.some((half) => svc[half] === undefined)) {
    throw new SavedFileError(FORMER);
  }
  return {
    jobId,
    text,
    details: rest.finishReason === undefined ? undefined : detailsOf(rest, svc),
    model: modelIn(items),
    svc,
    usage: usageIn(items),
    wallet: svc?.verify_url === undefined ? undefined : walletIn(svc.verify_url, jobId),
  };
}

const NO_TEXT = { text: undefined, finishReason: undefined };

function detailsOf(
  { finishReason, reasoning, toolCalls }: Omit<AnswerDetails, 'truncated'>,
  svc: StatedFields | undefined,
): AnswerDetails {
  return { finishReason, truncated: svc?.truncated ?? null, reasoning, toolCalls };
}

/** What an answer with a proof has: both halves of its statement. */
const HALVES = ['request_commitment', 'answer_details'] as const;
const FORMER =
  'It is of a former form of the service, whose svc names neither request_commitment nor ' +
  'answer_details: a verifier of that form reads it.';

function textOf(answers: readonly object[], isWhole: boolean, jobId: string | undefined) {
  if (answers.length === 0) {
    throw new SavedFileError(
      'It holds no answer of a chat completion or of responses, as JSON or as the events of a stream. ' +
        'Of an object in Python save model_dump_json().',
    );
  }
  const { finishReason, ...joined } = joinParts(answers, !isWhole);
  if (finishReason === undefined) throw new SavedFileError(`${CUT}${ofJob(jobId)}`, jobId);
  const { reasoning, toolCalls } = joined;
  const bound = [finishReason, reasoning, ...toolCalls.flatMap(Object.values)];
  if (bound.some(hasHalfCharacter)) {
    throw new SavedFileError('It holds half of a character.');
  }
  return { ...joined, finishReason };
}

const CUT =
  'It ends before the answer does, so the text is not whole. Save it to its end, or repeat the request ' +
  'with its Idempotency-Key.';
const NO_JOB =
  'It names no job: it has neither svc.job_id nor an id that begins with chatcmpl-job_ or resp_job_. ' +
  'Is it an answer of this service?';

const ofJob = (jobId: string | undefined): string =>
  jobId === undefined ? '' : ` Its job is ${jobId}: without a text, verify that.`;

const JOB_IDS = /job_[0-9a-f]{12}7[0-9a-f]{3}[89ab][0-9a-f]{15}/g;

/** The job of all parts, by `svc.job_id` and the answer's id; no other line names another one. */
function jobIdIn(items: readonly object[], lines: readonly string[]): string | undefined {
  const ids = new Set<string>();
  for (const item of items) {
    for (const named of [fieldOf(fieldOf(item, 'svc'), 'job_id'), fieldOf(item, 'id')]) {
      if (typeof named !== 'string') continue;
      const id = named.replace(/^(chatcmpl-|resp_)/, '');
      if (parseJobId(id)) ids.add(id);
    }
  }
  const [only] = ids;
  if (only !== undefined) {
    for (const line of lines) for (const [id] of line.matchAll(JOB_IDS)) ids.add(id);
  }
  const [, other] = ids;
  if (other !== undefined) {
    throw new SavedFileError(`It holds answers of several jobs, ${only} and ${other}: save one.`);
  }
  return only;
}

/**
 * Whether it is an error of a job, which the error names. Some write it beside a choice.
 *
 * @throws SavedFileError for any other error, and for one beside a whole answer
 */
function isErrorOf(items: readonly object[], jobId: string | undefined): boolean {
  const lists = items.map((item) => fieldOf(item, 'choices'));
  const choices = lists.filter(Array.isArray).flat();
  const failed = [...items, ...choices].find((one) => fieldOf(one, 'error') != null);
  if (failed === undefined) return false;
  const error = fieldOf(failed, 'error');
  const isOfJob = isObject(error) && typeof fieldOf(fieldOf(failed, 'svc'), 'job_id') === 'string';
  if (isOfJob && !choices.some(isLast)) return true;
  const said = shown(
    isObject(error) ? (fieldOf(error, 'message') ?? fieldOf(error, 'code')) : error,
  );
  throw new SavedFileError(`It is an error, not an answer. It says: ${said}${ofJob(jobId)}`, jobId);
}
