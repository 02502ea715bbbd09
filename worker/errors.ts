import { STATUS_OF_WORKER_ERROR, type WorkerErrorCode } from '../common/workerErrorCodes.ts';

export type { WorkerErrorCode };

/** A refusal or failure that the caller is told about. Its message never quotes a text. */
export class WorkerError extends Error {
  override name = 'WorkerError';
  readonly code: WorkerErrorCode;

  constructor(code: WorkerErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }

  get status(): number {
    return STATUS_OF_WORKER_ERROR[this.code];
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
