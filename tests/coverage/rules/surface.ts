import type { Rule } from '../rule.ts';

/** Errors, limits, versions, and what is served besides the API. */
export const surfaceRules: readonly Rule[] = [
  {
    id: 'errors.body',
    rule: 'Every error has code, message, type, param and a link to its documentation.',
    shown: [
      'journeys/openaiClient › is told that the key is missing',
      'api/openapiResponses › for %s %s with %j and the key %s: %i',
    ],
  },
  {
    id: 'errors.documented',
    rule: 'Every code has an entry that its link leads to.',
    shown: [
      'journeys/httpSurface › has an anchor for the code that an error links to',
      'api/docs › has an entry for every error code',
    ],
  },
  {
    id: 'errors.per-endpoint',
    rule: 'Each endpoint answers with documented codes and statuses only.',
    shown: [
      'api/openapi › names every error code somewhere, with a status that the table gives it',
      'api/openapiResponses › for %s %s with %j and the key %s: %i',
      'api/fuzz › are answered as it says: $name',
    ],
  },
  {
    id: 'errors.insufficient-credits',
    rule: '402 tells what there is, what is needed, the tier, and what would be affordable.',
    shown: [
      'journeys/openaiClient › is told what it has and what it needs when its credits do not suffice',
      'api/quote › tells a wallet with too little what it could afford',
    ],
  },
  {
    id: 'errors.no-workers',
    rule: '503 for want of workers names the model and how long to wait.',
    shown: [
      'journeys/httpSurface › is known, not listed, and answered with 503 before anything is locked',
    ],
  },
  {
    id: 'errors.job-headers',
    rule: 'Errors after a lock name the job and its lock in headers.',
    shown: [
      'journeys/routing › costs a %s completion nothing: three of four are asked',
      'journeys/routing › is waited for when there is no other, up to a 504 that names the job',
    ],
  },
  {
    id: 'errors.should-retry',
    rule: 'Where repeating silently would only cost time the answer says so.',
    shown: [
      'api/webhooks › refuses the same url and events again and names the webhook that has them',
    ],
  },
  {
    id: 'errors.routes',
    rule: 'Unknown paths and methods, those of unsupported features too, are 404 route_not_found.',
    shown: ['journeys/httpSurface › is answered with route_not_found: %s %s'],
  },
  {
    id: 'errors.malformed-http',
    rule: 'What is no HTTP is answered as a 400 of the usual shape.',
    shown: [
      'journeys/httpSurface › is answered in the usual shape even if it is not HTTP',
      'api/requestHttp › is refused: %s',
      'api/requestHttp › is answered when its time is over: %s',
      'api/requestHttp › is refused in the usual shape: %s',
    ],
  },
  {
    id: 'errors.limits-of-wallet',
    rule: 'A request above the wallet’s limits, or without this service as its spender, is a 403.',
    shown: [
      'api/errorsOfWallet › is asked for no more in one job',
      'api/errorsOfWallet › is asked for no more in one day',
      'api/errorsOfWallet › is told of its spender before its body',
    ],
  },
  {
    id: 'errors.order-of-checks',
    rule: 'Checks come in this order: address limit, route, key, body, credits, worker, lock.',
    shown: [
      'api/errorsOrder › its address has asked too much, before its path is unknown',
      'api/errorsOrder › %s',
      'api/errorsOfWallet › is told of its body before its credits: %#',
      'api/errorsOfWallet › is told of its credits before the workers, and of these before the lock',
    ],
  },
  {
    id: 'errors.nothing-inside-told',
    rule: 'An internal error tells nothing of its inside.',
    shown: [
      'api/errorsInside › tells nothing of its inside, and the log nothing private: no %s',
      'api/fuzz › are answered as it says: $name',
    ],
  },
  {
    id: 'limits.burst',
    rule: 'A burst limit per address, an IPv6 /64 as one, answers 429 with Retry-After.',
    shown: [
      'api/burstLimit › admits the burst at once and refuses the next with the wait in whole seconds',
      'api/burstLimit › refills at its rate and never above the burst',
      'api/burstLimit › %s',
    ],
  },
  {
    id: 'limits.refused-keys',
    rule: 'Refused keys are limited apart from other requests.',
    shown: [
      'api/errorsOrder › is told to wait after 50, while others go on',
      'api/errorsOrder › may guess five times a second from then on',
      'api/errorsOrder › is not one whose keys are right, however often it asks',
    ],
  },
  {
    id: 'surface.tls',
    rule: 'HTTPS by certificate or proxy; plain HTTP beyond loopback only when allowed explicitly.',
    shown: [
      'api/tls › speaks HTTPS with the certificate it is given',
      'api/tls › speaks plain HTTP on loopback',
      'api/tls › is not opened beyond loopback without a certificate',
      'api/tls › speaks plain HTTP beyond loopback where that is allowed explicitly',
    ],
  },
  {
    id: 'surface.openapi',
    rule: 'The OpenAPI 3.1 document is valid and describes every route and event, with fitting examples.',
    shown: [
      'api/openapi › is valid OpenAPI 3.1',
      'api/openapi › describes every route of the app below /v1 and no other',
      'api/openapi › describes every kind of event and no other',
      'api/openapi › has examples that fit their schemas',
    ],
  },
  {
    id: 'surface.docs',
    rule: 'The reference and the guides are readable without script or key.',
    shown: [
      'api/docs › is HTML that anybody may read without a key',
      'api/docs › has no script and loads nothing, and its policy allows its one style alone',
      'api/docs › leads only to pages and headings that exist',
    ],
  },
  {
    id: 'surface.health',
    rule: 'Health tells that the process is up, readiness which part is away.',
    shown: [
      'api/health › answers while the process is up, whatever else is away',
      'api/health › is 503 without the %s, and names the part and nothing of it',
    ],
  },
  {
    id: 'surface.metrics',
    rule: 'Metrics tell each stage of a request, and are not served where clients ask.',
    shown: [
      'api/metrics › tell each stage of a completion, its transactions, and how its job ended',
      'api/metrics › are not served where clients ask',
    ],
  },
  {
    id: 'surface.access-log',
    rule: 'Each request is one log line with its job and without anything that a client wrote.',
    shown: [
      'api/metrics › is counted and logged by its route, its status and its error',
      'api/metrics › leaves nothing in the log that a client wrote',
    ],
  },
  {
    id: 'surface.cors',
    rule: 'Browsers may call from configured origins only, with the service’s headers readable.',
    shown: [
      'api/cors › no page may read an answer, and a preflight is no request of this API',
      'api/cors › can read answers with their headers, refusals too',
    ],
  },
  {
    id: 'surface.security-headers',
    rule: 'Every answer keeps browsers from framing it, guessing its type, or leaving HTTPS.',
    shown: [
      'api/securityHeaders › keeps browsers from framing it, guessing its type, or telling where it was read: %s',
      'api/securityHeaders › binds browsers to HTTPS where clients reach the service by it, and only there',
    ],
  },
  {
    id: 'versions.api-version',
    rule: 'Envelopes carry the version as a date, pinned when the webhook is created.',
    shown: [
      'api/webhooks › creates an active webhook and shows the secret that we made, this once',
      'webhooks/verify › is the date of the release that the changelog names, once it has one',
    ],
  },
  {
    id: 'versions.release',
    rule: 'The first release of API, package and document is 0.1.0.',
    shown: ['api/openapi › is valid OpenAPI 3.1'],
  },
];
