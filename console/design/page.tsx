import { Fragment, type ReactNode, useEffect, useId } from 'react';
import { Button } from './button.tsx';
import { joinClasses } from './joinClasses.ts';
import styles from './page.module.css';

/** The head of a page: its title is also the document's. */
export function PageHeader(props: {
  title: string;
  lead?: ReactNode;
  size?: 'large';
  children?: ReactNode;
}) {
  const { title, lead, size, children } = props;
  useEffect(() => {
    document.title = `${title} · svc`;
  }, [title]);
  return (
    <header className={joinClasses(styles.header, size && styles[size])}>
      <div className={styles.heading}>
        <h1>{title}</h1>
        {lead && <p className={styles.lead}>{lead}</p>}
      </div>
      {children && <div className={styles.actions}>{children}</div>}
    </header>
  );
}

export function Section(props: {
  title: string;
  lead?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}) {
  const { title, lead, actions, children } = props;
  const id = useId();
  return (
    <section className={styles.section} aria-labelledby={id}>
      <div className={styles.sectionHead}>
        <div>
          <h2 id={id}>{title}</h2>
          {lead && <p className={styles.lead}>{lead}</p>}
        </div>
        {actions && <div className={styles.actions}>{actions}</div>}
      </div>
      {children}
    </section>
  );
}

interface Entries {
  readonly entries: readonly (readonly [term: string, value: ReactNode])[];
}

/** A row of numbers that are read at a glance. */
export function Numbers({ entries }: Entries) {
  return (
    <dl className={styles.numbers}>
      {entries.map(([term, value]) => (
        <div key={term} className={styles.number}>
          <dt>{term}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Names and values in two columns. What has no value is left out. */
export function Facts({ entries }: Entries) {
  const known = entries.filter(([, value]) => value !== null && value !== false);
  return (
    <dl className={styles.facts}>
      {known.map(([term, value]) => (
        <Fragment key={term}>
          <dt>{term}</dt>
          <dd>{value}</dd>
        </Fragment>
      ))}
    </dl>
  );
}

/** Fields of which Enter does the same as the button at their end. */
export function Form({ onSubmit, children }: { onSubmit: () => void; children: ReactNode }) {
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      {children}
    </form>
  );
}

export const Row = ({ children }: { children: ReactNode }) => (
  <div className={styles.row}>{children}</div>
);
export const Stack = ({ children }: { children: ReactNode }) => (
  <div className={styles.stack}>{children}</div>
);
export const Filters = ({ label, children }: { label: string; children: ReactNode }) => (
  <search className={styles.filters} aria-label={label}>
    {children}
  </search>
);

/** The button that goes on in a list, while there is more of it. */
export const ReadMore = ({
  of: { hasMore, isReadingMore, readMore },
}: {
  of: { hasMore: boolean; isReadingMore: boolean; readMore: () => void };
}) =>
  hasMore && (
    <Row>
      <Button pending={isReadingMore && 'Reading…'} onClick={readMore}>
        Show older ones
      </Button>
    </Row>
  );
