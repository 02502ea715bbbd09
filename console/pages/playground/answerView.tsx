import { useQueryClient } from '@tanstack/react-query';
import { Link } from 'wouter';
import type { ConsoleJob } from '../../../api/contracts/index.ts';
import { keyOf, useRead } from '../../data/queries.ts';
import { RequestError } from '../../data/request.ts';
import { Button } from '../../design/button.tsx';
import { CopyButton } from '../../design/copy.tsx';
import { countOfCalls, formatMs } from '../../design/formats.ts';
import { ErrorNotice, Loading, Notice } from '../../design/notice.tsx';
import { onUse } from '../../design/onUse.tsx';
import { Row } from '../../design/page.tsx';
import { JobState, shortenJobId } from '../../design/values.tsx';
import { Markdown } from '../../markdown/markdown.tsx';
import { useSignedIn } from '../../session/signedIn.tsx';
import { rateWords } from '../jobs/rate.ts';
import { type Stage, spansOf } from '../jobs/spans.ts';
import type { Answer } from './answer.ts';
import styles from './playgroundPage.module.css';
import { creditsOf } from './priceLine.tsx';
import { SavedAnswer } from './savedAnswer.tsx';
import { ToolCalls } from './toolCalls.tsx';
import type { Turn } from './useConversation.ts';
import type { Playground } from './usePlayground.ts';

const InlineVerification = onUse(
  () => import('../../verification/inlineVerification.tsx'),
  <Loading what="the verification" />,
);
const EVERY_MS = 1_000;
const OVER: readonly string[] = ['failed', 'refunded', 'disputed'];

/** The answer as it comes, the job's life beside it, and its verification. */
export function AnswerView(props: {
  turn: Turn;
  number: number;
  playground: Playground;
  /** Asks again for a price that was above the one shown. */
  onAgree: (credits: bigint) => void;
}) {
  const { turn, number, playground, onAgree } = props;
  const { answer, request } = turn;
  const { mayAsk } = playground;
  const { wallet } = useSignedIn();
  const job = useJob(answer);
  const { calls } = answer;
  const hasCalls = calls.length > 0;
  const isEnded = answer.state === 'whole' || answer.state === 'stopped';
  return (
    <div className={styles.answer}>
      <div role="log" aria-label={`Answer ${number}`} aria-busy={answer.state === 'running'}>
        {answer.reasoning && <p className={styles.reasoning}>{answer.reasoning}</p>}
        {answer.text && <Markdown text={answer.text} />}
        {hasCalls && <p className="soft">It has {countOfCalls(calls.length)}.</p>}
        {!answer.text && !answer.reasoning && !hasCalls && answer.state === 'running' && (
          <p className="soft">The answer comes here.</p>
        )}
      </div>
      {hasCalls && <ToolCalls turn={turn} playground={playground} />}
      {answer.state === 'failed' && (
        <Failure error={answer.error} mayAsk={mayAsk} onAgree={onAgree} />
      )}
      {answer.state === 'stopped' && (
        <p className="soft">Stopped. What was written until then is charged, and nothing else.</p>
      )}
      <Facts answer={answer} job={job} />
      {(answer.text || hasCalls) && isEnded && (
        <Row>
          {answer.text && <CopyButton text={answer.text} label="Copy the answer" />}
          <SavedAnswer answer={answer} request={request} />
        </Row>
      )}
      {job?.status === 'settled' && isEnded && (
        <div className={styles.verification}>
          <InlineVerification
            key={job.id}
            job={job.id}
            wallet={wallet}
            // More may have been proven than came before the stop.
            answer={answer.state === 'whole' ? answer.stream : undefined}
          />
        </div>
      )}
    </div>
  );
}

/** The job, read again until all of it is known. */
function useJob({ jobId }: Answer): ConsoleJob | undefined {
  const id = jobId ?? '';
  const options = { params: { job_id: id }, enabled: id !== '' };
  const known = useQueryClient().getQueryData<ConsoleJob>(keyOf('/jobs/:job_id', options));
  const isKnown = known && (known.timings?.settlement_ms != null || OVER.includes(known.status));
  const { data } = useRead('/jobs/:job_id', { ...options, ...(!isKnown && { everyMs: EVERY_MS }) });
  return data?.id === id ? data : undefined;
}

/** What became of the credits, by what the service says. */
function moneyOf(error: unknown): string {
  if (error instanceof RequestError && error.details.credits_refunded !== undefined) {
    return `Nothing was charged: ${error.details.credits_refunded} credits are back.`;
  }
  if (error instanceof RequestError && error.status < 500) return 'Nothing was locked or charged.';
  return 'Nothing is charged for an answer without a proof; what was locked comes back.';
}

function Failure(props: { error: unknown; mayAsk: boolean; onAgree: (credits: bigint) => void }) {
  const { error, mayAsk, onAgree } = props;
  if (!(error instanceof RequestError) || error.code !== 'price_above_limit') {
    return <ErrorNotice error={error} money={moneyOf(error)} />;
  }
  const required = BigInt(Number(error.details.credits_required));
  return (
    <Notice
      tone="warn"
      action={
        <Button size="small" disabled={!mayAsk} onClick={() => onAgree(required)}>
          Send it for at most {creditsOf(required)}
        </Button>
      }
    >
      <p>
        The price has risen. The request now locks {creditsOf(required)}, and you saw{' '}
        {creditsOf(BigInt(Number(error.details.max_credits)))}.
      </p>
      <p>{moneyOf(error)}</p>
    </Notice>
  );
}

/** Where the job is, what it cost, and how long each stage took. */
function Facts({ answer, job }: { answer: Answer; job: ConsoleJob | undefined }) {
  const { evidence } = answer;
  const spans = job?.timings ? spansOf(job.timings) : [];
  const endOf = (stage: Stage) => spans.find(({ name }) => name === stage)?.toMs ?? null;
  const times = [
    ['Locked after', endOf('Lock')],
    ['first token', endOf('First token') ?? answer.firstTextMs],
    ['whole answer', endOf('Answer') ?? answer.endMs],
    ['settled', endOf('Settlement')],
  ] as const;
  const known = times.filter(([, ms]) => ms !== null);
  return (
    <div className={styles.facts}>
      <Row>
        {job && <JobState status={job.status} />}
        {answer.jobId && (
          <Link href={`/console/jobs/${answer.jobId}`} className="mono">
            {shortenJobId(answer.jobId)}
          </Link>
        )}
        {evidence && <a href={evidence.verify_url}>Its verify link</a>}
      </Row>
      {evidence && (
        <span>
          {creditsOf(BigInt(evidence.credits_charged))} charged
          {job && job.rate !== null && ` ${rateWords(job.rate, job.price)}`}
        </span>
      )}
      {answer.finishReason === 'length' && <span>cut off at its token limit</span>}
      {known.length > 0 && (
        <span>{known.map(([stage, ms]) => `${stage} ${formatMs(ms)}`).join(' · ')}</span>
      )}
    </div>
  );
}
