import type { ConsoleJob } from '../../../api/console/contracts/index.ts';
import { useExplorer } from '../../data/ledger.ts';
import { useRead } from '../../data/queries.ts';
import { Address, TransactionLink } from '../../design/address.tsx';
import { Credits } from '../../design/credits.tsx';
import { Drawer } from '../../design/dialog.tsx';
import { formatCount } from '../../design/formats.ts';
import { JobState } from '../../design/jobState.tsx';
import { Loading, Reading } from '../../design/notice.tsx';
import { onUse } from '../../design/onUse.tsx';
import { Facts } from '../../design/page.tsx';
import { Time } from '../../design/time.tsx';
import { useSignedIn } from '../../session/signedIn.tsx';
import { DisputeSection } from './disputeSection.tsx';
import { FAILURES } from './failures.ts';
import { rateWords } from './rate.ts';
import { Timeline } from './timeline.tsx';

const InlineVerification = onUse(
  () => import('../../verification/inlineVerification.tsx'),
  <Loading what="the verification" />,
);
const EVERY_MS = 4_000;

/** Everything about one job, beside the list. */
export default function JobDrawer({
  id,
  onClose,
}: {
  readonly id: string;
  readonly onClose: () => void;
}) {
  const { wallet } = useSignedIn();
  const read = useRead('/jobs/:job_id', { params: { job_id: id }, everyMs: EVERY_MS });
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

function Overview({ job }: { readonly job: ConsoleJob }) {
  const explorer = useExplorer();
  const { escrow_tx, settlement_tx, refund_tx, escrow_pda, proof_hash } = job.on_chain;
  const transaction = (name: string, signature: string | null) =>
    signature !== null &&
    ([
      name,
      <TransactionLink key={name} signature={signature} href={explorer.transaction(signature)} />,
    ] as const);
  return (
    <Facts
      entries={[
        ['State', <JobState key="state" status={job.status} />],
        job.failure_reason !== null && ['Why it failed', FAILURES[job.failure_reason]],
        ['Model', `${job.model} (${job.tier})`],
        ['Charged', <Credits key="charged" credits={job.credits_charged} size="line" />],
        job.rate !== null && ['Rate', rateWords(job.rate, job.price)],
        ['Locked', <Credits key="locked" credits={job.locked_credits} size="line" />],
        job.usage !== null && [
          'Tokens',
          `${formatCount(job.usage.prompt_tokens)} in, ${formatCount(job.usage.completion_tokens)} out`,
        ],
        job.worker_address !== null && [
          'Worker',
          <Address
            key="worker"
            address={job.worker_address}
            href={`/console/workers/${job.worker_address}`}
          />,
        ],
        transaction('Lock', escrow_tx),
        transaction('Settlement', settlement_tx),
        transaction('Refund', refund_tx),
        ['Escrow account', <Address key="pda" address={escrow_pda} />],
        proof_hash !== null && ['Hash of the proven text', <code key="hash">{proof_hash}</code>],
        job.timeout_at !== null &&
          job.completed_at === null && ['Refundable from', <Time key="t" time={job.timeout_at} />],
      ]}
    />
  );
}
