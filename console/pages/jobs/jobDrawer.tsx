import type { ConsoleJob } from '../../../api/contracts/index.ts';
import { POLL_MS, useRead } from '../../data/queries.ts';
import { Drawer } from '../../design/dialog.tsx';
import { formatCount } from '../../design/formats.ts';
import { Loading, Reading } from '../../design/notice.tsx';
import { onUse } from '../../design/onUse.tsx';
import { Facts } from '../../design/page.tsx';
import { Time } from '../../design/time.tsx';
import { Address, Credits, JobState, Transaction } from '../../design/values.tsx';
import { useSignedIn } from '../../session/signedIn.tsx';
import { DisputeSection } from './disputeSection.tsx';
import { rateWords } from './rate.ts';
import { Timeline } from './timeline.tsx';

const InlineVerification = onUse(
  () => import('../../verification/inlineVerification.tsx'),
  <Loading what="the verification" />,
);

/** Everything about one job, beside the list. */
export default function JobDrawer({ id, onClose }: { id: string; onClose: () => void }) {
  const { wallet } = useSignedIn();
  const read = useRead('/jobs/:job_id', { params: { job_id: id }, everyMs: POLL_MS.changes });
  const job = read.data?.id === id ? read.data : undefined;
  return (
    <Drawer title={id} onClose={onClose}>
      <Reading of={{ ...read, data: job, isLoading: job === undefined }} what="the job" />
      {job && (
        <>
          <Overview job={job} />
          <h3>Timeline</h3>
          <Timeline job={job} />
          <DisputeSection job={job} />
          <h3>Verification</h3>
          <InlineVerification job={job.id} wallet={wallet} />
        </>
      )}
    </Drawer>
  );
}

function Overview({ job }: { job: ConsoleJob }) {
  const { escrow_tx, settlement_tx, refund_tx, escrow_pda, proof_hash } = job.on_chain;
  const { worker_address: worker, usage, timeout_at } = job;
  return (
    <Facts
      entries={[
        ['State', <JobState key="state" status={job.status} />],
        ['Why it failed', job.failure_reason && FAILURES[job.failure_reason]],
        ['Model', `${job.model} (${job.tier})`],
        ['Charged', <Credits key="charged" credits={job.credits_charged} size="line" />],
        ['Rate', job.rate && rateWords(job.rate, job.price)],
        ['Locked', <Credits key="locked" credits={job.locked_credits} size="line" />],
        [
          'Tokens',
          usage &&
            `${formatCount(usage.prompt_tokens)} in, ${formatCount(usage.completion_tokens)} out`,
        ],
        [
          'Worker',
          worker && <Address key="worker" address={worker} href={`/console/workers/${worker}`} />,
        ],
        ['Lock', escrow_tx && <Transaction key="lock" signature={escrow_tx} />],
        ['Settlement', settlement_tx && <Transaction key="settlement" signature={settlement_tx} />],
        ['Refund', refund_tx && <Transaction key="refund" signature={refund_tx} />],
        ['Escrow account', <Address key="pda" address={escrow_pda} />],
        ['Hash of the proven text', proof_hash && <code key="hash">{proof_hash}</code>],
        ['Proven beside it', proof_hash === OF_NO_TEXT && ONLY_CALLS],
        [
          'Refundable from',
          timeout_at && job.completed_at === null && <Time key="t" time={timeout_at} />,
        ],
      ]}
    />
  );
}

/** The sha256 of the empty text. */
const OF_NO_TEXT = 'sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
const ONLY_CALLS =
  'Calls of tools, as the text is empty. The ledger has the hash that binds them, and not the calls.';

/** Why a job failed, in a sentence. */
const FAILURES: Readonly<Record<NonNullable<ConsoleJob['failure_reason']>, string>> = {
  worker_error: 'No worker answered in full.',
  proof_missing: 'The answer came without a proof.',
  proof_invalid: "The proof was not the worker's, or not of this answer.",
  output_mismatch: 'The proof was of another text than the one delivered.',
  empty_output: 'The answer was empty.',
  client_gone: 'The client left before its answer began.',
  lock_late: 'The credits were locked after the request had been given up.',
  context_length_exceeded: "The messages did not fit the model's context window.",
  lease_lost: 'Its process fell silent while a worker answered, and a repeat ended the job.',
  orphaned: 'Its process fell silent before a worker had the job, and a repeat ended it.',
};
