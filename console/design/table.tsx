import type { ReactNode } from 'react';
import { joinClasses } from './joinClasses.ts';
import styles from './table.module.css';

export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => ReactNode;
  /** Numbers stand at the right, so that their digits do. */
  readonly isNumber?: boolean;
  /** Sentences and lists, which need a minimum width on a narrow page. */
  readonly isText?: boolean;
}

/** A table that scrolls by itself where the page is narrow. */
export function Table<Row>({
  caption,
  columns,
  rows,
  rowKey,
}: {
  /** The table's name for assistive technology. */
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly rowKey: (row: Row) => string;
}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard
    <section className={`${styles.scroll} sideways`} tabIndex={0} aria-label={caption}>
      <table className={styles.table}>
        <caption className="offscreen">{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ title, isNumber }) => (
              <th key={title} scope="col" className={isNumber ? styles.right : undefined}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={rowKey(row)}>
              {columns.map(({ title, cell, isNumber, isText }) => (
                <td
                  key={title}
                  className={joinClasses(isNumber && styles.right, isText && styles.text)}
                >
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
