import { type ReactNode, useMemo } from 'react';
import type { ToolCall } from '../../programs/client/statement.ts';
import styles from './code.module.css';
import { Pre } from './code.tsx';
import { CopyButton } from './copy.tsx';
import { indentJson } from './indentJson.ts';

/** A call of a tool as an answer has it, with what belongs to it below. Copied is what came. */
export function ToolCallBlock(props: { call: ToolCall; number: number; children?: ReactNode }) {
  const {
    call: { id, name, arguments: written },
    number,
    children,
  } = props;
  const shown = useMemo(() => indentJson(written), [written]);
  return (
    <section className={styles.block} aria-label={`Call ${number} of ${name}`}>
      <div className={styles.head}>
        <div className={styles.call}>
          <code>{name}</code>
          <code className="soft">{id}</code>
        </div>
        <CopyButton text={written} />
      </div>
      <Pre code={shown} label={`Arguments of call ${number}`} />
      {children && <div className={styles.below}>{children}</div>}
    </section>
  );
}
