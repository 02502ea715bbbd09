/** A node answered a question with a refusal. */
export class RpcError extends Error {
  override name = 'RpcError';
  /** JSON-RPC's or the provider's number; undefined where the node gave none. */
  readonly code: number | undefined;
  /** What the node added, such as why a transaction was refused. */
  readonly data: unknown;

  constructor(message: string, options: { code: number | undefined; data: unknown }) {
    super(message);
    this.code = options.code;
    this.data = options.data;
  }
}

/** No answer came in time, or what came is none: a page of HTML, another form, an HTTP status. */
export class NoAnswerError extends Error {
  override name = 'NoAnswerError';
}
