import type { ReactNode } from 'react';
import { joinClasses } from './joinClasses.ts';
import styles from './table.module.css';

export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => ReactNode;
  /** Numbers stand at the right, so that their digits do. */
  readonly isNumber?: boolean;
  /** Sentences and lists, which need a minimum width. */
  readonly isText?: boolean;
  /** What matters most: on a narrow page it stands beside the first column, the others below. */
  readonly isKey?: boolean;
  /** Buttons, which need no title beside them. */
  readonly isAction?: boolean;
}

/** A table that scrolls by itself where it is wider than the page. On a phone each row has lines. */
export function Table<Row>(props: {
  /** The table's name for assistive technology. */
  caption: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  rowKey: (row: Row) => string;
  /** Stands in its place where there are no rows. */
  empty?: ReactNode;
}) {
  const { caption, columns, rows, rowKey, empty } = props;
  if (empty && rows.length === 0) return empty;
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
              {columns.map((column, index) => (
                <td
                  key={column.title}
                  data-title={index > 0 && needsTitle(column) ? column.title : undefined}
                  className={joinClasses(
                    column.isNumber && styles.right,
                    column.isText && styles.text,
                    index > 0 && (column.isKey ? styles.key : styles.aside),
                  )}
                >
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** On a narrow page, without a head: states, sentences and buttons explain themselves. */
function needsTitle<Row>({ isNumber, isText, isKey, isAction }: Column<Row>): boolean {
  return isKey ? isNumber === true : !isText && !isAction;
}
