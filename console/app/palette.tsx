import { type KeyboardEvent, useState } from 'react';
import { Dialog, useCloseDialog } from '../design/dialog.tsx';
import { TextField } from '../design/field.tsx';
import { joinClasses } from '../design/joinClasses.ts';
import { afterPaint } from '../screen/afterPaint.ts';
import { useSession } from '../session/session.tsx';
import { navigationFor } from './navigation.ts';
import styles from './palette.module.css';
import { useFollow } from './shortcuts.ts';
import { chooseTheme, THEMES } from './theme.ts';

interface Entry {
  readonly name: string;
  readonly run: () => void;
}

/** Finds a page, a job by its id, or an action by its name. */
export default function Palette({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog title="Go to" onClose={onClose}>
      <Finder />
    </Dialog>
  );
}

function Finder() {
  const close = useCloseDialog();
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState(0);

  const found = useEntries(text);
  const current = Math.min(chosen, found.length - 1);

  const run = (entry: Entry | undefined) => {
    if (entry === undefined) return;
    close();
    // The palette is gone before a page is drawn, or every colour changes.
    afterPaint(entry.run);
  };
  const handle = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      setChosen((current + step + found.length) % Math.max(1, found.length));
    }
    if (event.key === 'Enter') {
      event.preventDefault();
      run(found[current]);
    }
  };

  return (
    <>
      <TextField
        label="Page, action or job id"
        autoFocus
        role="combobox"
        aria-expanded
        aria-controls="palette-list"
        aria-activedescendant={current >= 0 ? `palette-${current}` : undefined}
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setChosen(0);
        }}
        onKeyDown={handle}
      />
      <Results found={found} current={current} onRun={run} />
      {found.length === 0 && <p className="soft">No page, action or job has this name.</p>}
    </>
  );
}

function Results({
  found,
  current,
  onRun,
}: {
  readonly found: readonly Entry[];
  readonly current: number;
  readonly onRun: (entry: Entry) => void;
}) {
  return (
    <div id="palette-list" role="listbox" aria-label="Results" className={styles.list}>
      {found.map((entry, index) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the field above takes the keys
        <div
          key={entry.name}
          id={`palette-${index}`}
          role="option"
          tabIndex={-1}
          aria-selected={index === current}
          className={joinClasses(styles.entry, index === current && styles.current)}
          onClick={() => onRun(entry)}
        >
          {entry.name}
        </div>
      ))}
    </div>
  );
}

/** What a text finds: the job that it names, or every page and action whose name has it. */
function useEntries(text: string): readonly Entry[] {
  const { session, signOut } = useSession();
  const follow = useFollow();
  const job = /job_[0-9a-f]{32}/.exec(text)?.[0];
  if (job) {
    return [
      { name: `Open ${job}`, run: () => follow(`/console/jobs/${job}`) },
      { name: `Verify ${job}`, run: () => follow(`/verify/${job}`) },
    ];
  }
  const pages = navigationFor(session)
    .flatMap(({ destinations }) => destinations)
    .map(({ name, path }) => ({ name, run: () => follow(path) }));
  const themes = THEMES.map((theme) => ({
    name: `Theme: ${theme}`,
    run: () => chooseTheme(theme),
  }));
  const leaving = { name: 'Sign out', run: () => void signOut().catch(() => undefined) };
  const wanted = text.trim().toLowerCase();
  return [...pages, ...themes, ...(session ? [leaving] : [])].filter(({ name }) =>
    name.toLowerCase().includes(wanted),
  );
}
