/** A saved file that cannot be used; the message says what is missing, and what to do instead. */
export class SavedFileError extends Error {
  override name = 'SavedFileError';
  /** The job that it names all the same. */
  readonly jobId: string | undefined;

  constructor(message: string, jobId?: string) {
    super(message);
    this.jobId = jobId;
  }
}

/** What a file is that is not the body of a request. */
export const NO_REQUEST =
  'It is no request: save the JSON body that was sent to /v1/chat/completions or /v1/responses.';

/** For a body with a field that the service refuses: it was sent to another one. */
export const refusalOf = (field: string): SavedFileError =>
  new SavedFileError(`${NO_REQUEST} The service refuses its ${field}.`);
