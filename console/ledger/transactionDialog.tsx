import { useMutation, useQuery } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { type Plan, preview } from '../../programs/client/wallet/plan.ts';
import { refusalSentence } from '../../programs/client/wallet/refusals.ts';
import { useConfig } from '../data/ledger.ts';
import { useAsRead } from '../data/queries.ts';
import { Button } from '../design/button.tsx';
import { Command } from '../design/code.tsx';
import { Dialog } from '../design/dialog.tsx';
import { shorten } from '../design/formats.ts';
import { ErrorNotice, Loading, Notice, Reading } from '../design/notice.tsx';
import { useSignedIn } from '../session/signedIn.tsx';
import { useConnection } from '../wallet/wallets.ts';
import { usePending } from './pending.ts';
import { SigningObstacle, useCanSign } from './signingObstacle.tsx';
import {
  messageOf,
  NOTHING_MOVED,
  RefusedError,
  readable,
  signAndSend,
  unreachable,
} from './transaction.ts';
import styles from './transactionDialog.module.css';
import { useLedger } from './useLedger.ts';

/** Says what a transaction would do, has the wallet sign it, and sends it. */
export function TransactionDialog({ plan, onClose }: { plan: Plan; onClose: () => void }) {
  const { wallet } = useSignedIn();
  const isOther = plan.signer !== wallet;
  const ledger = useLedger();
  const config = useConfig();
  const isAble = useCanSign();
  const isSame = usePending().some((one) => one.title === plan.title && one.wallet === wallet);
  const { sign, isPending: isSigning, error } = useSigning(plan, onClose);
  const queryKey = ['preview', plan.title, plan.signer];
  const result = useQuery({
    queryKey,
    queryFn: () => {
      if (ledger === undefined) throw new Error('There is no node to ask.');
      return preview(plan, ledger);
    },
    enabled: ledger !== undefined,
    gcTime: 0,
    staleTime: 0,
  });
  const simulated = useAsRead(result, queryKey);
  const isLate = error instanceof RefusedError && error.refusal.name === 'BlockhashNotFound';
  const canSign = simulated.data?.accepted === true && isAble && !isSame;
  return (
    <Dialog
      title={plan.title}
      onClose={onClose}
      foot={
        <>
          <Button onClick={onClose}>Cancel</Button>
          {!isOther && (
            <Button
              kind="primary"
              disabled={!canSign}
              pending={isSigning && 'Confirm in the wallet…'}
              onClick={sign}
            >
              {isLate ? 'Sign again' : 'Sign and send'}
            </Button>
          )}
        </>
      }
    >
      {!isOther && <SigningObstacle />}
      {config === undefined && <Loading what="which ledger this is" />}
      <Reading
        of={{ ...simulated, error: simulated.error && unreachable(simulated.error) }}
        what="what the ledger would do"
        money={NOTHING_MOVED}
      />
      {simulated.data && <Effects of={simulated.data} creditMint={plan.creditMint} />}
      {isSame && (
        <Notice tone="warn">
          <p>The same is on its way already. It has to end before you can sign it again.</p>
        </Notice>
      )}
      {isOther && <MessageForOther plan={plan} />}
      <ErrorNotice error={readable(error, plan)} money={NOTHING_MOVED} />
    </Dialog>
  );
}

/** Has the connected wallet sign and send on request. @param onSent called when it was sent */
function useSigning(plan: Plan, onSent: () => void) {
  const ledger = useLedger();
  const connection = useConnection();
  const signing = useMutation({ mutationFn: signAndSend, onSuccess: onSent });
  // Leaving the dialog cancels it: what the wallet signs later is not sent.
  const abort = useRef<AbortController>(undefined);
  useEffect(() => () => abort.current?.abort(), []);
  const sign = () => {
    if (ledger === undefined || connection === undefined) return;
    abort.current = new AbortController();
    signing.mutate({ plan, connection, ledger, signal: abort.current.signal });
  };
  return { ...signing, sign };
}

function Effects({
  of: simulated,
  creditMint,
}: {
  of: Awaited<ReturnType<typeof preview>>;
  creditMint: string | undefined;
}) {
  if (!simulated.accepted) {
    return (
      <Notice tone="bad">
        <p>{refusalSentence(simulated.refusal, creditMint)}</p>
        <p>This is what the ledger would answer. {NOTHING_MOVED}</p>
      </Notice>
    );
  }
  return (
    <ul className={styles.effects}>
      {simulated.effects.map((effect) => (
        <li key={effect}>{effect}</li>
      ))}
    </ul>
  );
}

/** The message to sign, for a signer that is not the wallet that is signed in. */
function MessageForOther({ plan }: { plan: Plan }) {
  const ledger = useLedger();
  const message = useQuery({
    queryKey: ['message', plan.title, plan.signer],
    queryFn: () => ledger && messageOf(plan, ledger),
    enabled: ledger !== undefined,
    gcTime: 0,
  });
  return (
    <>
      <p>
        {shorten(plan.signer)} has to sign this, which is not the wallet that is signed in. For a
        multisig, this is the message for its transaction builder:
      </p>
      {message.data && <Command text={message.data} />}
    </>
  );
}
