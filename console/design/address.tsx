import { useExplorer } from '../data/ledger.ts';
import { CopyIconButton } from './copy.tsx';
import { ExternalIcon } from './icons.tsx';
import styles from './values.module.css';

/** The first and last four characters, which is what people compare. */
export function shorten(text: string): string {
  return text.length <= 12 ? text : `${text.slice(0, 4)}…${text.slice(-4)}`;
}

/** A job's id in a list: the prefix says what it is, the end distinguishes it from others. */
export function shortenJobId(id: string): string {
  return `job_…${id.slice(-8)}`;
}

/** An address of the ledger, which can be copied whole. */
export function Address({
  address,
  what = 'address',
  href,
}: {
  readonly address: string;
  readonly what?: string;
  readonly href?: string | undefined;
}) {
  return (
    <span className={styles.address} title={address}>
      {href ? <a href={href}>{shorten(address)}</a> : shorten(address)}
      <CopyIconButton text={address} what={what} />
    </span>
  );
}

/** A transaction of this service's ledger. */
export function Transaction({ signature }: { readonly signature: string }) {
  return <TransactionLink signature={signature} href={useExplorer().transaction(signature)} />;
}

/** A transaction with a link to an explorer, which gets no referrer. */
export function TransactionLink({
  signature,
  href,
}: {
  readonly signature: string;
  readonly href?: string | undefined;
}) {
  return (
    <span className={styles.address} title={signature}>
      {href ? (
        <a href={href} rel="noreferrer noopener">
          {shorten(signature)} <ExternalIcon />
        </a>
      ) : (
        shorten(signature)
      )}
      <CopyIconButton text={signature} what="transaction signature" />
    </span>
  );
}
