import { useRef, useState } from 'react';
import { Button } from '../design/button.tsx';
import { joinClasses } from '../design/joinClasses.ts';
import { Notice } from '../design/notice.tsx';
import type { Fields } from './fields.ts';
import styles from './fileTaker.module.css';
import { type Taken, takeFile, withoutAnswer } from './savedFiles.ts';
import { type NamedBytes, useFiles } from './useFiles.ts';

/** Takes a saved answer and the request: by a drop anywhere on the page, by a button, or by pasting. */
export function FileTaker({
  fields,
  onChange,
}: {
  fields: Fields;
  onChange: (change: Change) => void;
}) {
  const input = useRef<HTMLInputElement>(null);
  const [taken, setTaken] = useState<readonly Taken[]>([]);
  const { isOver, take } = useFiles((files: readonly NamedBytes[]) => {
    const all = files.map(({ name, bytes }) => takeFile(name, bytes));
    setTaken(all);
    onChange((before) => all.reduce((now, { change }) => change(now), before));
  });
  const faults = sentencesOf(taken, false);
  const given = filesOf(fields);
  return (
    <section
      className={joinClasses(styles.taker, isOver && styles.over)}
      aria-label="Saved answer and request"
    >
      <div className={styles.row}>
        <Button onClick={() => input.current?.click()}>Choose files</Button>
        <p>Or drop them anywhere on this page, or paste them.</p>
      </div>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        onChange={({ target }) => {
          if (target.files) take(target.files);
          // So that the same file can be chosen again.
          target.value = '';
        }}
      />
      <p className="hint">
        A saved answer fills in what it names: its JSON or its stream, as it came. The request that
        was sent shows whether the question is the proven one. So does a model's card for what its
        worker promised.
      </p>
      <div role="status">
        {sentencesOf(taken, true).map((sentence) => (
          <p key={sentence}>{sentence}</p>
        ))}
      </div>
      {faults.length > 0 && (
        <Notice tone="bad">
          {faults.map((fault) => (
            <p key={fault}>{fault}</p>
          ))}
        </Notice>
      )}
      {given.length > 0 && (
        <ul className={styles.files}>
          {given.map(([kind, file, without]) => (
            <li key={kind} className={styles.row}>
              <span>{kind}</span>
              <code>{file}</code>
              <Button
                size="small"
                aria-label={`Remove ${file}`}
                onClick={() => {
                  setTaken([]);
                  onChange(without);
                }}
              >
                Remove
              </Button>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function sentencesOf(taken: readonly Taken[], isUsed: boolean): string[] {
  return [...new Set(taken.filter((one) => one.isUsed === isUsed).map(({ said }) => said))];
}

type Change = (fields: Fields) => Fields;

/** The files that the form has, each with what takes it away. */
function filesOf({ answer, request, card }: Fields) {
  const files: readonly [kind: string, file: string | undefined, without: Change][] = [
    ['Answer', answer?.file, withoutAnswer],
    ['Request', request?.file, (fields) => ({ ...fields, request: undefined })],
    ['Card', card?.file, (fields) => ({ ...fields, card: undefined })],
  ];
  return files.filter(([, file]) => file !== undefined);
}
