/** Why an attempt failed. One word each, for metrics and for the webhook's owner. */
export type AttemptError =
  /** It answered, but not with a 2xx status; redirects are not followed. */
  | 'bad_status'
  | 'timeout'
  | 'name_not_resolved'
  | 'connection_refused'
  | 'connection_lost'
  | 'tls_failed'
  /** The URL leads, or has come to lead, to an address that is not public. */
  | 'address_refused'
  | 'bad_response'
  /** The process ended during the exchange. */
  | 'interrupted'
  /** The webhook's secret was sealed under another key than this process has. */
  | 'secret_unreadable';

/** How an attempt ended. */
export interface Outcome {
  /** Null: delivered. */
  readonly error: AttemptError | null;
  readonly statusCode: number | null;
  /** The beginning of the answer's body, printable. */
  readonly response: string | null;
  /** Null when nobody was there at the end. */
  readonly durationMs: number | null;
}
