import type { ServerResponse } from 'node:http';
import type { Response } from 'express';
import type { FinishReason } from '../../common/workerProtocol.ts';
import type { AnswerEvidence, ChatCompletion } from '../contracts/completionAnswer.ts';
import {
  type ApiError,
  type ErrorBody,
  type ErrorJob,
  errorBody,
  errorHeaders,
} from '../contracts/errors.ts';
import type { Piece } from '../workers/events.ts';

/** @param job which the request became, where that is known */
export function sendError(
  response: Response,
  error: ApiError,
  publicUrl: string,
  job?: ErrorJob,
): void {
  beginError(response, error).json(errorBody(error, publicUrl, job));
}

/** Status and headers of an error, which no cache keeps: what was refused may be there a moment later. */
export function beginError(response: Response, error: ApiError): Response {
  response.locals.errorCode = error.code;
  // HTTP requires this header of every 401.
  if (error.status === 401) response.set('www-authenticate', 'Bearer');
  response.set('cache-control', 'no-store');
  return response.status(error.status).set(errorHeaders(error));
}

/** Whether the client got all that it asked for, even if it then closed the connection. */
export function wasAnswered(response: Response): boolean {
  return response.writableFinished || response.locals.isWhole === true;
}

/**
 * Aborts when the client closes its connection before its answer was sent. It aborts at once where
 * the connection is closed already, since no event will come: a client may leave while its compressed
 * body is unpacked.
 */
export function abortWhenLeft(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  const leave = (): void => {
    if (!response.writableFinished) controller.abort();
  };
  if (response.closed) leave();
  else response.once('close', leave);
  return controller.signal;
}

/** What is charged; shown as the answer's usage. */
export type Usage = ChatCompletion['usage'];

/** What identifies an answer to its client. */
export interface AnswerIdentity {
  jobId: string;
  wallet: string;
  modelId: string;
  /** Unix seconds of the ledger. */
  created: number;
  escrowTx: string;
  /** 64 hexadecimal digits. */
  requestSalt: string;
}

/** How an answer reaches its client: as one body, or as a stream of events. */
export interface Delivery {
  /**
   * The first non-empty content, call or reasoning was accepted from this worker: a stream has no way back
   * to another. Without a worker, the answer is empty.
   */
  begin(worker?: { address: string; engine: string | null }): void;
  write(piece: Piece): void;
  /** Forgets what was written, since another worker begins again. Never called for a stream. */
  discard(): void;
  /** The text is complete and its proof has been checked. */
  finish(result: AnswerResult): void;
  /** The answer was settled, or its settlement is not known in time. Undefined for an empty answer. */
  settled(settlement?: SettlementFacts): void;
  /** Ends with an error, as a status while none was sent, else as the stream's last event. */
  fail(error: ApiError): void;
}

/** A format of the API, and how it writes one answer. */
export interface AnswerFormat {
  plain(identity: AnswerIdentity): AnswerBody;
  stream(identity: AnswerIdentity): AnswerEvents;
  /** The error in this format's names of fields. */
  errorOf(error: ApiError): ApiError;
}

/** Makes the body of a plain answer of its pieces. */
export interface AnswerBody {
  write(piece: Piece): void;
  /** Forgets what was written. */
  discard(): void;
  bodyOf(result: AnswerResult, svc: AnswerEvidence): object;
}

/** Makes server-sent events of an answer's pieces: each method returns their text. */
export interface AnswerEvents {
  begin(): string;
  write(piece: Piece): string;
  /** All that comes before `[DONE]`. */
  finish(result: AnswerResult, svc: AnswerEvidence): string;
  fail(error: ErrorBody): string;
}

/** How an answer ended. */
export interface AnswerResult {
  finishReason: FinishReason;
  /** Unix seconds of the ledger. */
  completedAt: number;
  /** Whether it was cut off because the job's time was nearly over. */
  isTruncated: boolean;
  usage: Usage;
  creditsCharged: number;
  /** Whether the text has the form that was asked for, if one was; null where that is not known. */
  isFormatKept?: boolean | null | undefined;
  /** What proves the text; undefined for an empty answer. */
  proof?: AnswerProof;
}

/** Who proved a text, and that it was delivered. */
interface AnswerProof {
  worker: string;
  attempt: number;
  outputHash: string;
  /** Both halves of its statement, 64 hexadecimal digits each. */
  requestCommitment: string;
  answerDetails: string;
  deliveryReceipt: string;
}

/** What a client reads of the settlement, as far as it is known. */
export interface SettlementFacts {
  settlementTx: string | null;
  creditsRemaining: number | null;
}

const NOT_SETTLED: SettlementFacts = { settlementTx: null, creditsRemaining: null };

/** Header and trailer names of the settlement, in the order they are announced. */
function settlementFields(
  { settlementTx, creditsRemaining }: SettlementFacts,
  proof: AnswerProof | undefined,
): Record<string, string> {
  return {
    ...(settlementTx && { 'x-svc-settlement-tx': settlementTx }),
    ...(creditsRemaining !== null && { 'x-svc-credits-remaining': String(creditsRemaining) }),
    ...(proof && {
      'x-svc-output-hash': proof.outputHash,
      'x-svc-delivery-receipt': proof.deliveryReceipt,
    }),
  };
}

const TRAILERS =
  'x-svc-settlement-tx, x-svc-credits-remaining, x-svc-output-hash, x-svc-delivery-receipt';

function setWorkerHeaders(
  response: Response,
  worker: { address: string; engine: string | null } | undefined,
): void {
  if (!worker) return;
  response.set('x-svc-worker', worker.address);
  if (worker.engine) response.set('x-svc-engine', worker.engine);
}

export interface DeliveryOptions {
  response: Response;
  identity: AnswerIdentity;
  publicUrl: string;
  format: AnswerFormat;
  isStream: boolean;
  /**
   * Called once the whole answer was handed to the system, to the last byte of a plain one and of a
   * stream's `[DONE]`. Never called for an error, or where the connection ended before.
   */
  onWhole?: () => void;
}

/** The form that the client asked for. All that is sent names the job. */
export function createDelivery(options: DeliveryOptions): Delivery {
  const { response, identity, publicUrl, isStream } = options;
  response.set({
    'x-svc-job-id': identity.jobId,
    'x-svc-tx-signature': identity.escrowTx,
    link: `<${verifyUrl(identity, publicUrl)}>; rel="describedby"`,
  });
  return isStream ? createStreamDelivery(options) : createPlainDelivery(options);
}

/** Where a browser checks the job. Once its account is closed, it is found by its wallet alone. */
function verifyUrl({ jobId, wallet }: AnswerIdentity, publicUrl: string): string {
  return `${publicUrl}/verify/${jobId}#wallet=${wallet}`;
}

function errorJobOf({ identity, publicUrl }: DeliveryOptions): ErrorJob {
  return { job_id: identity.jobId, verify_url: verifyUrl(identity, publicUrl) };
}

function evidenceOf(
  { identity, publicUrl }: DeliveryOptions,
  { proof, creditsCharged, isTruncated, isFormatKept, usage }: AnswerResult,
  settlementTx: string | null,
): AnswerEvidence {
  return {
    job_id: identity.jobId,
    worker: proof?.worker ?? null,
    attempt: proof?.attempt ?? null,
    credits_charged: creditsCharged,
    usdc_value: usage.cost,
    output_hash: proof?.outputHash ?? null,
    request_salt: identity.requestSalt,
    request_commitment: proof?.requestCommitment ?? null,
    answer_details: proof?.answerDetails ?? null,
    delivery_receipt: proof?.deliveryReceipt ?? null,
    escrow_tx: identity.escrowTx,
    settlement_tx: settlementTx,
    verify_url: verifyUrl(identity, publicUrl),
    ...(isFormatKept !== undefined && { format_kept: isFormatKept }),
    ...(isTruncated && { truncated: 'deadline' }),
  };
}

/** The whole answer in one body, sent after its settlement. */
function createPlainDelivery(options: DeliveryOptions): Delivery {
  const { response, format, identity, publicUrl, onWhole = () => undefined } = options;
  const body = format.plain(identity);
  let result: AnswerResult | undefined;
  return {
    begin(worker) {
      setWorkerHeaders(response, worker);
    },
    write: body.write,
    discard() {
      body.discard();
      response.removeHeader('x-svc-engine');
    },
    finish(whole) {
      result = whole;
      if (whole.isTruncated) response.set('x-svc-truncated', 'deadline');
    },
    settled(settlement = NOT_SETTLED) {
      if (!result) throw new Error('an answer cannot settle before it is finished');
      const { socket } = response;
      // Node emits it for a cut connection, too, and may close this one right afterwards.
      response.prependOnceListener('finish', () => {
        if (!socket?.destroyed) onWhole();
      });
      response.set(settlementFields(settlement, result.proof));
      const svc = evidenceOf(options, result, settlement.settlementTx);
      response.type('json').end(JSON.stringify(body.bodyOf(result, svc)));
    },
    fail(error) {
      sendError(response, format.errorOf(error), publicUrl, errorJobOf(options));
    },
  };
}

/** Proxies and clients give up on silent connections after some tens of seconds. */
const KEEP_ALIVE_MS = 10_000;

/** Server-sent events as they come; the settlement follows in trailers. */
function createStreamDelivery(options: DeliveryOptions): Delivery {
  const { response, format, identity, publicUrl, onWhole = () => undefined } = options;
  const events = format.stream(identity);
  const canHaveTrailers = response.req.httpVersion === '1.1';
  let keepAlive: NodeJS.Timeout | undefined;
  let unsent = '';
  let hasBegun = false;
  let proof: AnswerProof | undefined;

  /**
   * Events of the same moment leave as one chunk: each by itself would cost as much. A client that
   * reads slowly never slows the worker: what it has not read yet is buffered, and the token limit
   * bounds that.
   */
  function send(text: string): void {
    if (unsent === '') process.nextTick(() => flush());
    unsent += text;
  }

  /** @param onSent called once it was handed to the system, unless the connection is over before */
  function flush(onSent: () => void = () => undefined): void {
    if (unsent === '') return;
    if (isWritable(response)) response.write(unsent, (error) => !error && onSent());
    unsent = '';
    keepAlive?.refresh();
  }

  function end(): void {
    flush();
    clearInterval(keepAlive);
    if (isWritable(response)) response.end();
  }

  return {
    begin(worker) {
      if (hasBegun) return;
      hasBegun = true;
      setWorkerHeaders(response, worker);
      response.set({
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-cache, no-transform',
        'x-accel-buffering': 'no',
        ...(canHaveTrailers && { trailer: TRAILERS }),
      });
      if (!isWritable(response)) return;
      keepAlive = setInterval(() => send(': keep-alive\n\n'), KEEP_ALIVE_MS);
      response.once('close', () => clearInterval(keepAlive));
      send(events.begin());
    },
    write(piece) {
      send(events.write(piece));
    },
    discard() {
      throw new Error('what a stream has sent cannot be taken back');
    },
    finish(result) {
      ({ proof } = result);
      send(events.finish(result, evidenceOf(options, result, null)));
      send('data: [DONE]\n\n');
      // The official clients close the connection then, and receive no trailers.
      flush(() => {
        response.locals.isWhole = true;
        onWhole();
      });
      clearInterval(keepAlive);
    },
    settled(settlement = NOT_SETTLED) {
      if (canHaveTrailers && isWritable(response)) {
        response.addTrailers(settlementFields(settlement, proof));
      }
      end();
    },
    fail(error) {
      flush();
      const named = format.errorOf(error);
      if (!response.headersSent) return sendError(response, named, publicUrl, errorJobOf(options));
      response.locals.errorCode = error.code;
      send(events.fail(errorBody(named, publicUrl, errorJobOf(options))));
      end();
    },
  };
}

function isWritable(response: ServerResponse): boolean {
  return !response.writableEnded && !response.destroyed;
}
