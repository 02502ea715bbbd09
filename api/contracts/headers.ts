/** The response headers of the API beyond HTTP's own, by what they say; an OpenAPI document, CORS and the tests read it. */
export const responseHeaders = {
  'x-request-id': 'Our choice: names the request in our logs.',
  'x-svc-job-id': 'The job. Our choice: with every answer after a lock, errors too.',
  'x-svc-tx-signature':
    'The transaction that locked the credits. Our choice: with every answer after a lock, errors too.',
  'x-svc-settlement-tx':
    'The settlement; of a stream a trailer. Our choice: absent if it is not confirmed within 10 s, ' +
    'of a stream 3 s.',
  'x-svc-worker': "The worker's address.",
  'x-svc-credits-remaining':
    'The balance after the request; of a stream a trailer. Our choice: absent with the settlement.',
  'x-svc-output-hash':
    'Our choice: the sha256 of the whole text, which the worker signed; of a stream a trailer.',
  'x-svc-delivery-receipt':
    'Our choice: our signature that this text was delivered, for a dispute; of a stream a trailer.',
  'x-svc-engine': 'Our choice: what the worker says of its engine.',
  'x-svc-replayed': 'Our choice: `true` when the answer is that of an earlier equal request.',
  'server-timing': 'Our choice: milliseconds for lock, worker, settlement and mirror.',
  'retry-after': 'Seconds to wait before the request is repeated.',
  'x-should-retry': 'Our choice: `false` where repeating silently would only cost time.',
} as const satisfies Record<string, string>;

export type ResponseHeader = keyof typeof responseHeaders;

/** What every answer has from the lock on. */
export const lockHeaders = [
  'x-svc-job-id',
  'x-svc-tx-signature',
] as const satisfies readonly ResponseHeader[];
