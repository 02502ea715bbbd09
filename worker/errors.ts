/** Every code the worker answers with, and its HTTP status. */
const STATUS_OF_CODE = {
  invalid_request: 400,
  job_mismatch: 400,
  context_length_exceeded: 400,
  invalid_signature: 401,
  signer_not_allowed: 403,
  job_not_found: 404,
  job_not_running: 404,
  route_not_found: 404,
  attempt_already_used: 409,
  job_not_open: 409,
  stopped_before_output: 409,
  body_too_large: 413,
  // Nobody is there to read it: for the log alone.
  caller_gone: 499,
  internal_error: 500,
  empty_output: 502,
  upstream_failed: 502,
  no_free_slot: 503,
  shutting_down: 503,
  ledger_unavailable: 503,
  worker_not_eligible: 503,
  deadline_passed: 504,
} as const;

export type WorkerErrorCode = keyof typeof STATUS_OF_CODE;

/** A refusal or failure that the caller is told about. Its message never quotes a text. */
export class WorkerError extends Error {
  override name = 'WorkerError';
  readonly code: WorkerErrorCode;

  constructor(code: WorkerErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }

  get status(): number {
    return STATUS_OF_CODE[this.code];
  }

  /** The body of an error response, and the data of an `error` event. */
  toJSON(): { error: { code: WorkerErrorCode; message: string } } {
    return { error: { code: this.code, message: this.message } };
  }
}

/** Whatever was not foreseen is told to nobody but the log. */
export function asWorkerError(error: unknown): WorkerError {
  if (error instanceof WorkerError) return error;
  return new WorkerError('internal_error', 'The worker failed', { cause: error });
}
