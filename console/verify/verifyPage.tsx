import { compareNodes } from '@svc-inference/client/verify';
import { type KeyboardEvent, type ReactNode, useRef, useState } from 'react';
import { explorerLink } from '../data/ledger.ts';
import { Button } from '../design/button.tsx';
import { Command, installCommand } from '../design/code.tsx';
import { CheckField, TextArea, TextField } from '../design/field.tsx';
import { shorten } from '../design/formats.ts';
import { ErrorNotice, Notice } from '../design/notice.tsx';
import { PageHeader } from '../design/page.tsx';
import { ToolCallBlock } from '../design/toolCall.tsx';
import { Result } from '../verification/result.tsx';
import { commandOf, type Request, type Verification, verify } from '../verification/verify.ts';
import { type Fields, readAddress, requestOf, type TextName } from './fields.ts';
import { FileTaker } from './fileTaker.tsx';
import { withNamed } from './savedFiles.ts';
import styles from './verifyPage.module.css';

/** What one node has led to, and what it was asked. */
interface Attempt {
  readonly asked: Request;
  readonly verification?: Verification;
  readonly error?: unknown;
}

/** Verifies a job by a ledger's node alone; the service is not asked, and its session is out of reach. */
export function VerifyPage() {
  const [fields, setFields] = useState(readAddress);
  const [isPending, setPending] = useState(false);
  const [attempts, setAttempts] = useState<readonly Attempt[]>([]);
  /** Of the files that were taken last: what was asked before is not of them. */
  const latest = useRef({});
  const request = requestOf(fields);
  const canRun = fields.named.trim() !== '' && request.rpcUrl !== '' && !isPending;

  const run = async () => {
    setPending(true);
    const second = fields.secondUrl.trim();
    const urls = second ? [request.rpcUrl, second] : [request.rpcUrl];
    const files = latest.current;
    const ended = await Promise.all(
      urls.map((rpcUrl) => {
        const asked = { ...request, rpcUrl };
        return verify(asked).then(
          (verification) => ({ asked, verification }),
          (error: unknown) => ({ asked, error }),
        );
      }),
    );
    if (files === latest.current) setAttempts(ended);
    setPending(false);
  };
  return (
    <div className={styles.page}>
      <PageHeader
        title="Verify a job"
        lead="Your browser reads the ledger and checks every rule. Nothing is asked of this service, and what you give stays here."
      />
      <FileTaker
        fields={fields}
        onChange={(change) => {
          latest.current = {};
          setAttempts([]);
          setFields(change);
        }}
      />
      <div className={styles.form}>
        <FormFields fields={fields} onChange={setFields} onEnter={() => canRun && void run()} />
        <div className={styles.whole}>
          <Button
            kind="primary"
            disabled={!canRun}
            pending={isPending && 'Verifying…'}
            onClick={() => void run()}
          >
            Verify
          </Button>
        </div>
      </div>
      <div className={styles.results}>
        <Results attempts={attempts} />
        <h2>The same without a browser</h2>
        <p>
          Install <code>svc</code> from this service, and compare its sha512 in package-lock.json
          with the release's. Or build it from the repository.
        </p>
        <p>
          <a href="/packages/">The packages of this service</a>
        </p>
        <Command text={installCommand('cli')} />
        <Command text={commandOf({ ...request, named: request.named || '<job>' })} />
      </div>
    </div>
  );
}

/** @param onEnter after Enter in a field of one line */
function FormFields(props: {
  fields: Fields;
  onChange: (fields: Fields) => void;
  onEnter: () => void;
}) {
  const { fields, onChange, onEnter } = props;
  const text = (name: TextName, label: string, hint?: string) => ({
    label,
    hint,
    value: fields[name],
    onChange: ({ target: { value } }: { target: { value: string } }) =>
      onChange(name === 'named' ? withNamed(fields, value) : { ...fields, [name]: value }),
  });
  const line = (...given: Parameters<typeof text>) => ({
    ...text(...given),
    isCode: true,
    onKeyDown: ({ key }: KeyboardEvent) => {
      if (key === 'Enter') onEnter();
    },
  });
  const whole = (field: ReactNode) => <div className={styles.whole}>{field}</div>;
  const ofJob = "A job id, a job's address, or the signature of one of its transactions";
  const ofWallet = 'Whose job it is: with a job id, or a batch’s signature';
  const ofNode = 'Any RPC address that allows pages of other sites';
  const ofSecond = 'Of another operator: one node alone can lie';
  const ofText = 'Exactly as it came, without a newline at its end. It is hashed here.';
  const ofReceipt = 'As it came in x-svc-delivery-receipt, or in the answer’s svc';
  const ofSalt = 'The answer’s svc.request_salt: with it the question is checked';
  const ofDetails = 'The answer’s svc.answer_details: the proof binds it beside the question';
  return (
    <>
      {whole(<TextField {...line('named', 'Job', ofJob)} />)}
      <TextField {...line('wallet', 'Wallet', ofWallet)} />
      <TextField {...line('programId', 'Program')} />
      <TextField inputMode="url" {...line('rpcUrl', "Ledger's node", ofNode)} />
      <TextField inputMode="url" {...line('secondUrl', 'Second node (optional)', ofSecond)} />
      {whole(
        <CheckField
          label="Compare the text that I received"
          checked={fields.hasText}
          onChange={(event) => onChange({ ...fields, hasText: event.target.checked })}
        />,
      )}
      {fields.hasText && whole(<TextArea rows={6} {...text('text', 'Text', ofText)} />)}
      {fields.answer?.content.details?.toolCalls.map((call, index) => (
        <div key={index} className={styles.whole}>
          <ToolCallBlock call={call} number={index + 1} />
        </div>
      ))}
      {whole(<TextField {...line('receipt', 'Delivery receipt (optional)', ofReceipt)} />)}
      {fields.request && whole(<TextField {...line('salt', 'Salt of the request', ofSalt)} />)}
      {fields.request &&
        whole(<TextField {...line('answerDetails', 'Answer details', ofDetails)} />)}
    </>
  );
}

function Results({ attempts }: { attempts: readonly Attempt[] }) {
  const [first, second] = attempts;
  // The chain's name is not known here: an explorer reads a node of one's own by its address.
  const ledger = { chain: 'solana:custom', rpc_url: first?.asked.rpcUrl ?? '' };
  return (
    <>
      {first && <Question asked={first.asked} second={second?.asked.rpcUrl} />}
      {first?.verification && second?.verification && (
        <Comparison one={first.verification} other={second.verification} />
      )}
      {attempts.map(({ error }, index) =>
        error === undefined ? null : (
          <ErrorNotice
            key={index === 0 ? 'first' : 'second'}
            error={error}
            money={`${index === 0 ? 'By this node' : 'By the second node'} nothing was verified.`}
          />
        ),
      )}
      {first?.verification && (
        <Result
          verification={first.verification}
          transactionLink={(signature) => explorerLink(ledger, 'tx', signature)}
        />
      )}
    </>
  );
}

/** What a result answers. It stays in view, and the form may hold another question by then. */
function Question({ asked, second }: { asked: Request; second: string | undefined }) {
  const { named, wallet, rpcUrl, text, answer, request, card } = asked;
  const parts = [
    named.trim(),
    wallet && `wallet ${shorten(wallet)}`,
    ...[rpcUrl, second].map((url) => url && `node ${URL.parse(url)?.host ?? url}`),
    text !== undefined && !answer && 'your text',
    ...[answer, request, card].map((saved) => saved?.file),
  ];
  return <p className={styles.question}>Asked: {parts.filter(Boolean).join(' · ')}</p>;
}

function Comparison({ one, other }: { one: Verification; other: Verification }) {
  const differences = compareNodes(one.checks, other.checks);
  if (differences.length === 0) {
    return (
      <Notice tone="ok">
        <p>Both nodes show the same: all {one.checks.length} checks agree, to the transaction.</p>
      </Notice>
    );
  }
  return (
    <Notice tone="bad">
      <p>The nodes differ. At least one of them is behind, or lies.</p>
      {differences.map((difference) => (
        <p key={difference}>{difference}</p>
      ))}
    </Notice>
  );
}
