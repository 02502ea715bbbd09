import { followTransaction } from '@svc-inference/client/wallet';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { refusalSentence } from '../../programs/client/wallet/refusals.ts';
import { readAgain, useRead } from '../data/queries.ts';
import { Button } from '../design/button.tsx';
import { ErrorNotice, Notice } from '../design/notice.tsx';
import { Transaction } from '../design/values.tsx';
import { useConnection } from '../wallet/wallets.ts';
import {
  dismissEnded,
  type EndedTransaction,
  endPending,
  type PendingTransaction,
  planOf,
  useEnded,
  usePending,
} from './pending.ts';
import { NOTHING_MOVED, readable, signAndSend } from './transaction.ts';
import { useLedger } from './useLedger.ts';

const EVERY_MS = 1_000;

/** Follows every transaction that this browser sent, after a reload too, and says how it ended. */
export default function PendingBanner() {
  const pending = usePending();
  const ended = useEnded();
  return (
    <>
      {pending.map((transaction) => (
        <Followed key={transaction.signature} transaction={transaction} />
      ))}
      {ended.map((transaction) => (
        <Ended key={transaction.signature} transaction={transaction} />
      ))}
    </>
  );
}

function Followed({ transaction }: { transaction: PendingTransaction }) {
  const ledger = useLedger();
  const client = useQueryClient();
  useEffect(() => {
    if (ledger === undefined) return;
    const abort = new AbortController();
    void followTransaction(transaction, { ...ledger, signal: abort.signal }).then((outcome) => {
      if (outcome === undefined) return;
      endPending(transaction, outcome);
      void readAgain(client);
    });
    return () => abort.abort();
  }, [transaction, ledger, client]);
  return (
    <Notice tone="info">
      <p>
        {transaction.title}: sent as <Transaction signature={transaction.signature} />
      </p>
      <p>It is followed until it is confirmed or can never land. Do not sign it again before.</p>
    </Notice>
  );
}

/** One click has the wallet sign the same with a new blockhash. */
function SignAgain({ transaction: { signature, wallet } }: { transaction: EndedTransaction }) {
  const ledger = useLedger();
  const connection = useConnection();
  const signing = useMutation({
    mutationFn: signAndSend,
    onSuccess: () => dismissEnded(signature),
  });
  const plan = planOf(signature);
  const isAble = ledger !== undefined && connection?.account.address === wallet;
  if (plan === undefined || !isAble) return null;
  return (
    <>
      <Button
        size="small"
        pending={signing.isPending && 'Confirm in the wallet…'}
        onClick={() =>
          signing.mutate({ plan, connection, ledger, signal: new AbortController().signal })
        }
      >
        Sign again
      </Button>
      <ErrorNotice error={readable(signing.error, plan)} money={NOTHING_MOVED} />
    </>
  );
}

/** The pages read the mirror, which follows the ledger: once it has this slot, they are read again. */
function useMirrored(slot: number | undefined): boolean {
  const client = useQueryClient();
  const [awaited, setAwaited] = useState(slot);
  const { data } = useRead('/status', { everyMs: EVERY_MS, enabled: awaited !== undefined });
  const mirrored = data?.mirror.slot ?? 0;
  useEffect(() => {
    if (awaited === undefined || mirrored < awaited) return;
    setAwaited(undefined);
    void readAgain(client);
  }, [awaited, mirrored, client]);
  return awaited === undefined;
}

function Ended({ transaction }: { transaction: EndedTransaction }) {
  const { title, signature, outcome } = transaction;
  const isShown = useMirrored(outcome.status === 'landed' ? outcome.slot : undefined);
  const dismiss = (
    <Button size="small" onClick={() => dismissEnded(signature)}>
      Dismiss
    </Button>
  );
  const link = <Transaction signature={signature} />;
  if (outcome.status === 'landed') {
    return (
      <Notice tone="ok" action={dismiss}>
        <p>
          {title}: confirmed. {link}
        </p>
        {!isShown && <p>The pages show it as soon as the mirror has it.</p>}
      </Notice>
    );
  }
  return (
    <Notice tone="bad" action={dismiss}>
      <p>
        {title}:{' '}
        {outcome.status === 'expired'
          ? 'it expired and can never land.'
          : refusalSentence(outcome.error)}{' '}
        {link}
      </p>
      <p>No credits moved. One that failed on the ledger cost its fee. You can try again.</p>
      {outcome.status === 'expired' && <SignAgain transaction={transaction} />}
    </Notice>
  );
}
