import type { Rule } from '../rule.ts';

/** Jobs, their states, and disputes. */
export const jobRules: readonly Rule[] = [
  {
    id: 'jobs.object',
    rule: 'A job shows state, model, charge, worker, times, usage and its ledger record.',
    shown: [
      'journeys/openaiClient › gets a plain completion that is settled and readable at once',
      'api/openapiResponses › for a completion, its job, and disputes of it',
    ],
  },
  {
    id: 'jobs.ledger-record',
    rule: 'The ledger alone, without the API, confirms lock, proof, charge and payment.',
    shown: [
      'journeys/ledgerOnly › locked before the work, proved this text, and paid to the base unit',
      'auditors/verifyJob › $name: every rule that applies holds',
    ],
  },
  {
    id: 'jobs.unknown',
    rule: 'An unknown job, or one of another wallet, is a 404.',
    shown: ['journeys/openaiClient › sees its own jobs only'],
  },
  {
    id: 'jobs.unmirrored',
    rule: 'A job that the mirror lacks is read from the ledger.',
    shown: [
      'journeys/unmirroredJob › is read from the ledger, as the mirror will tell it but for the signatures of its end',
      'journeys/unmirroredJob › is no job of another wallet, as an id that nobody locked is nobody’s',
    ],
  },
  {
    id: 'jobs.list',
    rule: 'The list pages with before and after, filters by state and model, 20 by default and 100 at most.',
    shown: [
      'api/jobList › equals a plain reading of its documentation for every mix of cursors and filters',
      'api/jobListPaging › show every job once when they are followed to the end, back and forward',
      'api/jobListPaging › going back, show what was there at the first page, once, while jobs arrive',
      'api/jobListPaging › going forward, show what arrives meanwhile too, once',
    ],
  },
  {
    id: 'jobs.list-refusals',
    rule: 'Unknown cursors and states, and parameters out of range or given twice, are a 400.',
    shown: [
      'api/jobList › refuses %j and names the parameter',
      'api/jobList › refuses a job of nobody as the cursor %s',
    ],
  },
  {
    id: 'jobs.regenerated-key',
    rule: 'A regenerated key goes on with what its wallet has.',
    shown: ['api/webhooks › go on with the same webhooks when the wallet’s key is regenerated'],
  },
  {
    id: 'jobs.states',
    rule: 'Jobs move between their states as published, and in no other way, for each signer.',
    shown: ['programs/jobMatrix › moves on from %s as the table says, for whom it says'],
  },
  {
    id: 'jobs.ids',
    rule: 'Job ids are UUIDs of version 7 and never live twice.',
    shown: [
      'client/jobId › are UUIDs of version 7 that carry the ledger’s milliseconds',
      'programs/jobLock › refuses the same id twice',
      'programs/jobClose › leaves nothing that could be revived, and the id cannot be locked again',
    ],
  },
  {
    id: 'disputes.opened',
    rule: 'A different hash within the window opens a dispute, recorded on the ledger, with its hashes, transaction and window.',
    shown: [
      'journeys/disputes › is opened when the hashes differ, and its job shows it to its rejection',
    ],
  },
  {
    id: 'disputes.equal',
    rule: 'Equal hashes open none and leave the job as it is.',
    shown: [
      'journeys/disputes › is not opened when the hashes are equal, whatever the case of their digits',
    ],
  },
  {
    id: 'disputes.window',
    rule: 'After 60 s of ledger time a dispute is a 422.',
    shown: [
      'journeys/disputes › is refused after the window, by the time of the ledger',
      'programs/jobDispute › is in time up to 60 seconds after the settlement and late a second after that',
    ],
  },
  {
    id: 'disputes.still-settling',
    rule: 'A dispute sent with the last token waits for the settlement.',
    shown: ['journeys/disputes › waits for a job that is still settling when its stream has ended'],
  },
  {
    id: 'disputes.decided',
    rule: 'An upheld dispute gives the charge back; a rejected one leaves the job settled.',
    shown: [
      'journeys/disputes › that is upheld gives the charge back',
      'journeys/disputes › is opened when the hashes differ, and its job shows it to its rejection',
    ],
  },
  {
    id: 'disputes.expiry',
    rule: 'A dispute that nobody decides within 24 hours expires.',
    shown: ['journeys/disputes › that nobody decides expires after 24 hours'],
  },
  {
    id: 'disputes.evidence',
    rule: 'Two proofs of one attempt convict the worker, a receipt that differs from the proof the service.',
    shown: [
      'auditors/verifyJob › convicts whoever signed for another text than was proven',
      'programs/disputeResolve › slashes the worker when it is upheld against it',
      'programs/disputeResolve › makes the treasury owe the charge when it is upheld against the gateway',
    ],
  },
  {
    id: 'disputes.refusals',
    rule: 'Unknown and unsettled jobs, second disputes, too many open ones and malformed hashes are refused by code.',
    shown: [
      'journeys/disputes › is refused for another wallet, an unknown job and a malformed hash',
      'journeys/disputes › is refused when the wallet has as many open ones as it may',
      'journeys/disputes › is opened once when asked for twice at the same time',
      'journeys/disputes › cannot be disputed',
    ],
  },
];
