import { Link } from 'wouter';
import { POLL_MS, useRead } from '../../data/queries.ts';
import { buttonClass } from '../../design/button.tsx';
import { CompletionCode } from '../../design/completionCode.tsx';
import { formatCount, formatMs } from '../../design/formats.ts';
import { Reading } from '../../design/notice.tsx';
import { Numbers, PageHeader, Row, Section } from '../../design/page.tsx';
import { formatUsdc } from '../../design/values.tsx';
import { APP_PAGES } from '../../routes.ts';
import styles from './homePage.module.css';

const STEPS = [
  ['Lock', "The price is locked in the wallet's escrow before any work is done."],
  ['Work', 'An independent worker answers and signs the hash of its text.'],
  ['Settle', 'The ledger checks the signature, pays the worker, and returns the rest.'],
  ['Verify', 'Your browser reads the ledger and checks every rule, without our word.'],
] as const;

export default function HomePage() {
  const network = useRead('/network', { everyMs: POLL_MS.sums });
  const numbers = network.data;
  const show = (value: string | undefined) => value ?? '–';
  return (
    <>
      <PageHeader {...APP_PAGES['/console'].head}>
        <Row>
          <Link href="/console/playground" className={buttonClass('primary')}>
            Open the playground
          </Link>
          <Link href="/console/settings" className={buttonClass()}>
            Get an API key
          </Link>
        </Row>
      </PageHeader>
      {network.error && <Reading of={network} what="the numbers" />}
      <Section title="Now">
        <Numbers
          entries={[
            ['Models', show(numbers && formatCount(numbers.models))],
            ['Workers answering', show(numbers && formatCount(numbers.workers))],
            ['Jobs settled, 24 h', show(numbers && formatCount(numbers.jobs_settled_24h))],
            ['Charged, 24 h', show(numbers && formatUsdc(numbers.credits_charged_24h))],
            ['First token, median', show(numbers && formatMs(numbers.first_token_p50_ms))],
          ]}
        />
      </Section>
      <Section title="The life of a job">
        <ol className={styles.steps}>
          {STEPS.map(([name, sentence], index) => (
            <li key={name}>
              <span className="mono soft">{index + 1}</span>
              <h3>{name}</h3>
              <p className="soft">{sentence}</p>
            </li>
          ))}
        </ol>
      </Section>
      <Section title="One request" lead="The official OpenAI clients work as they are.">
        <CompletionCode />
      </Section>
    </>
  );
}
