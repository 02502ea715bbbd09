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
  readonly fields: Fields;
  readonly onChange: (change: (fields: Fields) => Fields) => void;
}) {
  const input = useRef<HTMLInputElement>(null);
  const [taken, setTaken] = useState<readonly Taken[]>([]);
  const { isOver, take } = useFiles((files: readonly NamedBytes[]) => {
    const all = files.map(({ name, bytes }) => takeFile(name, bytes));
    setTaken(all);
    onChange((before) => all.reduce((now, { change }) => change(now), before));
  });
  const remove = (change: (fields: Fields) => Fields) => {
    setTaken([]);
    onChange(change);
  };
  const faults = sentencesOf(taken, false);
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
      <p className={styles.hint}>
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
      {(fields.answer || fields.request || fields.card) && (
        <ul className={styles.files}>
          {fields.answer && (
            <FileRow
              kind="Answer"
              file={fields.answer.file}
              onRemove={() => remove(withoutAnswer)}
            />
          )}
          {fields.request && (
            <FileRow
              kind="Request"
              file={fields.request.file}
              onRemove={() => remove((before) => ({ ...before, request: undefined }))}
            />
          )}
          {fields.card && (
            <FileRow
              kind="Card"
              file={fields.card.file}
              onRemove={() => remove((before) => ({ ...before, card: undefined }))}
            />
          )}
        </ul>
      )}
    </section>
  );
}

function sentencesOf(taken: readonly Taken[], isUsed: boolean): string[] {
  return [...new Set(taken.filter((one) => one.isUsed === isUsed).map(({ said }) => said))];
}

function FileRow({
  kind,
  file,
  onRemove,
}: {
  readonly kind: string;
  readonly file: string;
  readonly onRemove: () => void;
}) {
  return (
    <li className={styles.row}>
      <span>{kind}</span>
      <code>{file}</code>
      <Button size="small" aria-label={`Remove ${file}`} onClick={onRemove}>
        Remove
      </Button>
    </li>
  );
}
