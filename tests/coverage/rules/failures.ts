import type { Rule } from '../rule.ts';

/** Who pays when something goes wrong. */
export const failureRules: readonly Rule[] = [
  {
    id: 'failures.nothing-locked',
    rule: 'A request that is refused for its credits or for want of a worker locks nothing.',
    shown: [
      'journeys/httpSurface › is known, not listed, and answered with 503 before anything is locked',
      'journeys/idempotency › runs under its Idempotency-Key as soon as there are credits',
      'journeys/whoPaysRefusals › is told so, and nothing is locked: %s',
    ],
  },
  {
    id: 'failures.lock-late',
    rule: 'A lock not confirmed in 10 s is a 503, and a lock that lands later is taken back.',
    shown: [
      'journeys/whoPaysLock › is a 503, plain and streamed, and is taken back at once when it lands',
      'journeys/whoPaysLock › and never lands leaves nothing, and the same request may then run',
    ],
  },
  {
    id: 'failures.failover',
    rule: 'A worker that fails before the first content is replaced by another.',
    shown: [
      'journeys/failures › is answered by the next worker when the first refuses before any content',
    ],
  },
  {
    id: 'failures.three-workers',
    rule: 'No more than three workers are tried for one job.',
    shown: ['journeys/routing › costs a %s completion nothing: three of four are asked'],
  },
  {
    id: 'failures.silent-worker-dropped',
    rule: 'A worker silent for 30 s is dropped if there is another.',
    shown: ['journeys/routing › is dropped after 30 s for one that answers a %s completion'],
  },
  {
    id: 'failures.worker-failed',
    rule: 'A worker that dies, or gives a wrong, missing or empty proof, costs nothing: 500, or an error event.',
    shown: ['journeys/failures › costs nothing when its worker misbehaves: %s'],
  },
  {
    id: 'failures.timeout',
    rule: 'No completion within 120 s: 504 when the refund is confirmed, with its signature, and nothing charged.',
    shown: [
      'journeys/failures › ends as job_timeout with the refund when its worker never answers',
      'programs/jobRefund › returns the lock of a job that is %s once its time is over, at anybody’s call',
    ],
  },
  {
    id: 'failures.long-answer',
    rule: 'An answer that still runs 105 s after its lock is stopped, proven and paid, with the reason length.',
    shown: [
      'journeys/failures › is stopped before its time runs out, ends with length and is paid',
    ],
  },
  {
    id: 'failures.client-left-plain',
    rule: 'A plain request that its client leaves before the answer began is not charged.',
    shown: ['journeys/failures › before a plain answer began is not charged'],
  },
  {
    id: 'failures.client-left-stream',
    rule: 'A stream left after the first content is charged for what was produced.',
    shown: ['journeys/failures › in the middle of a stream is charged for what was produced'],
  },
  {
    id: 'failures.process-dies',
    rule: 'When the API process dies, its jobs are refunded after 120 s by anybody.',
    shown: [
      'journeys/failures › gets its credits back from the keeper',
      'indexer/keeper › refunds a job that no worker completed, once the ledger says that it is overdue',
    ],
  },
  {
    id: 'failures.ledger-time',
    rule: 'Deadlines are judged by the ledger’s clock, to the second.',
    shown: [
      'programs/jobSettle › is in time a second before the deadline and at it, and late a second after',
      'client/ledgerClock › sees a jump of the ledger’s time within half a second, and says so by its offset',
    ],
  },
  {
    id: 'failures.ledger-away',
    rule: 'With ledger or database away a request is a 503 that is safe to repeat.',
    shown: [
      'journeys/whoPaysOutage › is a 503 that costs nothing, and what only reads goes on',
      'journeys/whoPaysOutage › is a 503 that costs nothing, and runs again without a restart',
      'journeys/whoPaysOutage › is a 503 that costs nothing, and those locked before still settle',
    ],
  },
  {
    id: 'failures.abuse',
    rule: 'Endless unpaid endings or rejected disputes suspend the key.',
    shown: [
      'journeys/whoPaysAbuse › loses its key at once, gets it back forgiven, and loses it again',
      'indexer/abuse › is judged by disputes that were rejected or expired, and not by one that was upheld',
    ],
  },
];
