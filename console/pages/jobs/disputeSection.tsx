import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { createAddresses, jobDispute, PublicKey } from '@svc-inference/client/wallet';
import { useState } from 'react';
import type { ConsoleJob } from '../../../api/contracts/index.ts';
import type { Plan } from '../../../programs/client/wallet/plan.ts';
import { useConfig } from '../../data/ledger.ts';
import { call, RequestError } from '../../data/request.ts';
import { useChange } from '../../data/useChange.ts';
import { Button } from '../../design/button.tsx';
import { TextArea } from '../../design/field.tsx';
import { ErrorNotice, Notice, Reading } from '../../design/notice.tsx';
import { Facts, Row } from '../../design/page.tsx';
import { formatLeft, Time } from '../../design/time.tsx';
import { Transaction } from '../../design/values.tsx';
import { TransactionDialog } from '../../ledger/transactionDialog.tsx';
import { useLedgerTime } from '../../ledger/useLedgerTime.ts';
import { useSignedIn } from '../../session/signedIn.tsx';

const MONEY = 'No dispute was opened. The charge stands as it was.';

const HINTS = {
  empty: 'Paste it as it came. It is hashed here and goes nowhere.',
  proven: 'This is the proven text: there is nothing to dispute.',
  other: 'This is not the proven text.',
};

/** The service may not open it, and the wallet may. */
const FOR_WALLET: ReadonlySet<string | null> = new Set([
  'dispute_limit_reached',
  'spender_not_set',
]);

/** How the dispute stands; while its window is open, the way to open one. */
export function DisputeSection({ job }: { job: ConsoleJob }) {
  const { nowMs: now, read: time } = useLedgerTime();
  const { dispute, dispute_window_ends_at: endsAt } = job;
  if (dispute) {
    const { arbitration_ends_at: endsBy, resolution_tx: decision } = dispute;
    return (
      <>
        <h3>Dispute</h3>
        <Facts
          entries={[
            ['State', dispute.status],
            ['Hash of your text', <code key="hash">{dispute.your_hash}</code>],
            [
              'To be decided until',
              dispute.status === 'open' && endsBy && <Time key="until" time={endsBy} />,
            ],
            ['Decision', decision && <Transaction key="decision" signature={decision} />],
          ]}
        />
      </>
    );
  }
  if (job.status !== 'settled' || endsAt === null) return null;
  if (now === undefined) {
    return time.error && <Reading of={time} what="the ledger's time" />;
  }
  const leftMs = Date.parse(endsAt) - now;
  if (leftMs <= 0) return null;
  return <OpenDispute job={job} leftMs={leftMs} />;
}

function OpenDispute({ job, leftMs }: { job: ConsoleJob; leftMs: number }) {
  const { wallet } = useSignedIn();
  const config = useConfig();
  const [text, setText] = useState('');
  const [plan, setPlan] = useState<Plan>();
  const hash = bytesToHex(sha256(new TextEncoder().encode(text)));
  const isProven = job.on_chain.proof_hash === `sha256:${hash}`;
  const isReady = text !== '' && !isProven;
  const open = useChange(
    () =>
      call('POST', '/jobs/:job_id/dispute', {
        params: { job_id: job.id },
        body: { received_output_hash: `sha256:${hash}` },
      }),
    ['/jobs', '/jobs/:job_id'],
  );
  // Another controller than this service locked the job: then the wallet alone may dispute it.
  const isOurs = config === undefined || job.controller === config.gateway;
  const needsWallet =
    !isOurs || (open.error instanceof RequestError && FOR_WALLET.has(open.error.code));
  if (open.data?.dispute_opened) {
    return (
      <Notice tone="ok">
        <p>The dispute is open. The charge is repaid if it is upheld.</p>
      </Notice>
    );
  }
  return (
    <>
      <Countdown leftMs={leftMs} />
      <TextArea
        label="The text that you received"
        hint={text === '' ? HINTS.empty : isProven ? HINTS.proven : HINTS.other}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <Row>
        {isOurs && (
          <Button
            kind="danger"
            disabled={!isReady}
            pending={open.isPending && 'Opening…'}
            onClick={() => open.mutate(undefined)}
          >
            Open a dispute
          </Button>
        )}
        {needsWallet && config && (
          <Button
            disabled={!isReady}
            onClick={() => setPlan(disputePlan({ job, wallet, hash, program: config.program_id }))}
          >
            Open it by your own signature…
          </Button>
        )}
      </Row>
      <ErrorNotice error={open.error} money={MONEY} />
      {open.data && (
        <Notice tone="info">
          <p>{open.data.message}</p>
        </Notice>
      )}
      {plan && <TransactionDialog plan={plan} onClose={() => setPlan(undefined)} />}
    </>
  );
}

const Countdown = ({ leftMs }: { leftMs: number }) => (
  <h3>
    Dispute{' '}
    <span className="soft number" role="timer">
      {formatLeft(leftMs)} left, by the ledger's time
    </span>
  </h3>
);

function disputePlan(dispute: {
  readonly job: ConsoleJob;
  readonly wallet: string;
  readonly hash: string;
  readonly program: string;
}): Plan {
  const { job, hash } = dispute;
  const programId = new PublicKey(dispute.program);
  const wallet = new PublicKey(dispute.wallet);
  return {
    title: `Dispute ${job.id}`,
    signer: dispute.wallet,
    instructions: [
      jobDispute({
        programId,
        signer: wallet,
        job: new PublicKey(job.on_chain.escrow_pda),
        creditAccount: createAddresses(programId).creditAccount(wallet),
        clientHash: hexToBytes(hash),
      }),
    ],
    describe: () => [
      'The ledger notes that you received another text than the proven one.',
      `If the arbiter upholds it, ${job.credits_charged} credits are owed to you.`,
    ],
  };
}
