/** Files that decide about money, and the tests that judge them: the quickest first. */
export interface Target {
  area: string;
  files: readonly string[];
  tests: readonly string[];
}

const words = (...lines: string[]): string[] => lines.join(' ').split(' ');

export const TARGETS: readonly Target[] = [
  {
    area: 'pricing',
    files: ['programs/client/pricing.ts'],
    tests: ['client/pricing', 'api/quote', 'auditors/verifyJob'],
  },
  {
    area: 'admission',
    files: ['api/jobs/admission.ts'],
    tests: words(
      'api/quote api/ceiling api/errorOrder api/lock api/walletErrors',
      'journeys/lockFailures',
    ),
  },
  {
    area: 'lock',
    files: ['api/ledger/lockOnLedger.ts'],
    tests: ['api/lock', 'api/lockFailures', 'journeys/lockFailures', 'journeys/outages'],
  },
  {
    area: 'settlement',
    files: ['api/jobs/settlement.ts', 'api/ledger/settleOnLedger.ts', 'api/ledger/proof.ts'],
    tests: words(
      'api/settlement api/settlementCounts api/answerDelivery api/acknowledgements',
      'api/lock api/tokensCharged api/attempt api/failover journeys/lockFailures',
      'journeys/outages journeys/failures journeys/settlements',
    ),
  },
  {
    area: 'refund',
    files: ['api/jobs/refund.ts', 'api/ledger/refundOnLedger.ts'],
    tests: ['api/refund', 'api/jobEnds', 'journeys/failures'],
  },
  {
    area: 'idempotency',
    files: [
      'api/jobs/idempotency.ts',
      'api/routes/completions.ts',
      'api/sql/requests.ts',
      'api/sql/repeats.ts',
    ],
    tests: words('api/leases api/idempotency api/idempotencyBatches api/jobEnds'),
  },
  {
    area: 'request path',
    files: ['api/jobs/completion.ts', 'api/jobs/dispatch.ts', 'api/jobs/attempt.ts'],
    tests: words(
      'api/attempt api/failover api/answerDelivery api/streamDelivery api/lockFailures',
      'journeys/failures journeys/routing',
    ),
  },
  {
    area: 'folds',
    files: ['common/database/mirrorTables.ts', 'indexer/fold/change.ts', 'indexer/fold/folds.ts'],
    tests: words(
      'indexer/folds indexer/mirrorTables indexer/simulator/simulator indexer/reconcile',
      'indexer/revert',
    ),
  },
  {
    area: 'verdicts',
    files: words(
      'api/jobs/dispute.ts api/ledger/disputeOnLedger.ts',
      'programs/client/verify/job/evidenceRules.ts',
      'programs/client/verify/job/endingRules.ts',
    ),
    tests: words(
      'api/jobEnds auditors/verifyJob journeys/disputes journeys/unmirroredJob',
      'receipts/vectors',
    ),
  },
  {
    area: 'worker',
    files: ['admission', 'answer', 'attempts', 'proofSigner'].map(
      (name) => `worker/jobs/${name}.ts`,
    ),
    tests: words(
      'worker/admission worker/attempts worker/eligibility worker/jobChecks worker/jobs',
      'worker/stopping worker/upstreamAnswer',
    ),
  },
  {
    area: 'proofs',
    files: ['instructions', 'jobId', 'proof'].map((name) => `programs/client/${name}.ts`),
    tests: words(
      'auditors/verifyJob client/idl client/instructions client/jobId client/proof',
      'client/requestCommitment',
    ),
  },
  {
    area: 'verification',
    files: words(
      'accountRules deliveryRules evidence historyRules record settlementRules workRules',
    ).map((name) => `programs/client/verify/job/${name}.ts`),
    tests: words(
      'receipts/vectors auditors/gathering auditors/answers auditors/unknownVersion',
      'auditors/verifyJob',
    ),
  },
  {
    area: 'audit',
    files: ['accountRules', 'jobRules', 'vaultRules'].map(
      (name) => `programs/client/verify/program/${name}.ts`,
    ),
    tests: ['auditors/auditProgram'],
  },
];
