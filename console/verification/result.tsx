import {
  type Check,
  type Conclusion,
  conclusionOf,
  NOT_PROVEN,
  type Verdict,
} from '@svc-inference/client/verify';
import { formatCount } from '../design/formats.ts';
import { joinClasses } from '../design/joinClasses.ts';
import { State, type Tone, TransactionLink } from '../design/values.tsx';
import styles from './result.module.css';
import type { Verification } from './verify.ts';

const VERDICTS: Readonly<Record<Verdict, readonly [tone: Tone, word: string]>> = {
  holds: ['ok', 'holds'],
  fails: ['bad', 'fails'],
  not_checkable: ['warn', 'cannot be checked'],
  not_applicable: ['idle', 'does not apply'],
};

const TONES: Readonly<Record<Conclusion['result'], Tone>> = {
  holds: 'ok',
  differs: 'bad',
  fails: 'bad',
  not_checkable: 'warn',
};

/** The result, and each check with its transactions; failed ones come first. */
export function Result({
  verification,
  transactionLink,
}: {
  verification: Verification;
  transactionLink: (signature: string) => string | undefined;
}) {
  const { job, checks, slot, reads, durationMs } = verification;
  const { result, title, sentence } = conclusionOf(checks);
  const byVerdict = Map.groupBy(checks, ({ verdict }) => verdict);
  const holding = byVerdict.get('holds') ?? [];
  const others = byVerdict.get('not_applicable') ?? [];
  const groups = [
    ['What fails', byVerdict.get('fails')],
    ['What cannot be checked', byVerdict.get('not_checkable')],
    ...Map.groupBy(holding, ({ name }) => name.slice(0, name.indexOf('.'))),
  ] as const;
  return (
    <>
      <div className={joinClasses(styles.verdict, styles[result])} role="status">
        <h2>
          <State tone={TONES[result]} word={title} />
        </h2>
        <p>{sentence}</p>
        <p className="soft">
          {job.id ?? 'The job'} is {job.status}, {formatCount(job.credits_charged)} of{' '}
          {formatCount(job.credits_locked)} locked credits charged, as of slot {formatCount(slot)}.{' '}
          {checks.length} checks, {reads} reads of the ledger, {(durationMs / 1_000).toFixed(1)} s.
        </p>
        <p className="soft">Not proven: {NOT_PROVEN.join(', ')}.</p>
      </div>
      {groups.map(
        ([group, members]) =>
          members && (
            <section key={group} className={styles.group} aria-label={`Checks: ${group}`}>
              <h3>{group}</h3>
              {members.map((check) => (
                <CheckRow key={check.name} check={check} transactionLink={transactionLink} />
              ))}
            </section>
          ),
      )}
      {others.length > 0 && (
        <details className="soft">
          <summary>{others.length} checks do not apply to this job</summary>
          {others.map(({ name, detail }) => (
            <p key={name}>
              <code>{name}</code> {detail}
            </p>
          ))}
        </details>
      )}
    </>
  );
}

function CheckRow({
  check,
  transactionLink,
}: {
  check: Check;
  transactionLink: (signature: string) => string | undefined;
}) {
  const [tone, word] = VERDICTS[check.verdict];
  return (
    <div className={styles.check}>
      <div>
        <code>{check.name}</code>
        <div>
          <State tone={tone} word={word} />
        </div>
      </div>
      <div>
        <p>{check.detail}</p>
        <div className={styles.places}>
          {check.evidence.map(({ signature }) => (
            <TransactionLink
              key={signature}
              signature={signature}
              href={transactionLink(signature)}
            />
          ))}
        </div>
      </div>
    </div>
  );
}
