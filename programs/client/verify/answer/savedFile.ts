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
