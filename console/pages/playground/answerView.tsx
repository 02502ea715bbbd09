import { Link } from 'wouter';
import { useRead } from '../../data/queries.ts';
import { RequestError } from '../../data/request.ts';
import { shortenJobId } from '../../design/address.tsx';
import { countOf, formatMs } from '../../design/formats.ts';
import { JobState } from '../../design/jobState.tsx';
import { ErrorNotice, Loading } from '../../design/notice.tsx';
import { onUse } from '../../design/onUse.tsx';
import { Numbers, Row } from '../../design/page.tsx';
import { useSignedIn } from '../../session/signedIn.tsx';
import { rateWords } from '../jobs/rate.ts';
import { type Stage, spansOf } from '../jobs/spans.ts';
import styles from './playgroundPage.module.css';
import type { Answer } from './useCompletion.ts';

const InlineVerification = onUse(
  () => import('../../verification/inlineVerification.tsx'),
  <Loading what="the verification" />,
);
const EVERY_MS = 1_000;

/** What became of the credits, by what the service says. */
function moneyOf(error: unknown): string {
  if (error instanceof RequestError && error.details.credits_refunded !== undefined) {
    return `Nothing was charged: ${error.details.credits_refunded} credits are back.`;
  }
  if (error instanceof RequestError && error.status < 500) return 'Nothing was locked or charged.';
  return 'Nothing is charged for an answer without a proof; what was locked comes back.';
}

/** The answer as it comes, the job's life beside it, and its verification. */
export function AnswerView({ answer }: { readonly answer: Answer | undefined }) {
  const { wallet } = useSignedIn();
  const jobId = answer?.jobId ?? '';
  const { data } = useRead('/jobs/:job_id', {
    params: { job_id: jobId },
    enabled: jobId !== '',
    everyMs: EVERY_MS,
  });
  const job = data?.id === jobId ? data : undefined;
  const spans = job?.timings ? spansOf(job.timings) : [];
  const endOf = (stage: Stage) => spans.find(({ name }) => name === stage)?.toMs;
  return (
    <section className={styles.answer} aria-label="Answer">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard */}
      <div className={styles.text} tabIndex={0} role="log" aria-label="Text of the answer">
        {answer?.reasoning && <p className="soft">{answer.reasoning}</p>}
        {answer?.text}
        {!answer?.text && !answer?.reasoning && (
          <span className="soft">The answer comes here.</span>
        )}
      </div>
      {answer?.error !== undefined && (
        <ErrorNotice error={answer.error} money={moneyOf(answer.error)} />
      )}
      {answer && (
        <Numbers
          entries={[
            ['Locked after', formatMs(endOf('Lock') ?? null)],
            ['First token', formatMs(endOf('First token') ?? answer.firstTextMs)],
            ['Whole answer', formatMs(endOf('Answer') ?? answer.endMs)],
            ['Settled after', formatMs(endOf('Settlement') ?? null)],
          ]}
        />
      )}
      {job && (
        <Row>
          <JobState status={job.status} />
          <Link href={`/console/jobs/${job.id}`} className="mono">
            {shortenJobId(job.id)}
          </Link>
          {job.rate !== null && (
            <span className="soft">
              {countOf(job.credits_charged, 'credit')} charged {rateWords(job.rate, job.price)}
            </span>
          )}
          {answer?.finishReason === 'length' && (
            <span className="soft">cut off at its token limit</span>
          )}
        </Row>
      )}
      {job?.status === 'settled' && answer && !answer.isRunning && (
        <InlineVerification key={job.id} job={job.id} wallet={wallet} text={answer.text} />
      )}
    </section>
  );
}
