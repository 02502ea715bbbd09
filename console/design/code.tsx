import { useState } from 'react';
import styles from './code.module.css';
import { CopyButton, CopyIconButton } from './copy.tsx';

const LANGUAGE_CHARACTERS_MAX = 32;

/** The same in several languages, one at a time. */
export function CodeTabs({
  samples,
}: {
  samples: readonly (readonly [language: string, code: string])[];
}) {
  const [shown, setShown] = useState(samples[0]?.[0]);
  const code = samples.find(([language]) => language === shown)?.[1] ?? '';
  return (
    <div className={styles.block}>
      <div className={styles.head}>
        {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for entries of a form */}
        <div className={styles.tabs} role="group" aria-label="Language">
          {samples.map(([language]) => (
            <button
              key={language}
              type="button"
              className={styles.tab}
              aria-pressed={language === shown}
              onClick={() => setShown(language)}
            >
              {language}
            </button>
          ))}
        </div>
        <CopyButton text={code} />
      </div>
      <Pre code={code} label={`${shown} code`} />
    </div>
  );
}

/** Code that a text contains. @param language as the text names it */
export function CodeBlock({ language, code }: { language: string; code: string }) {
  const name = language.slice(0, LANGUAGE_CHARACTERS_MAX);
  return (
    <div className={styles.block}>
      <div className={styles.head}>
        <span className={styles.language}>{name || 'Code'}</span>
        <CopyButton text={code} />
      </div>
      <Pre code={code} label={name ? `${name} code` : 'Code'} />
    </div>
  );
}

export function Pre({ code, label }: { code: string; label: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard
    <section aria-label={label} tabIndex={0} className={`${styles.pre} sideways`}>
      <pre>{code}</pre>
    </section>
  );
}

/** One command with its copy button. */
export function Command({ text }: { text: string }) {
  return (
    <div className={`${styles.block} ${styles.line}`}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard */}
      <code tabIndex={0} className="sideways">
        {text}
      </code>
      <CopyIconButton text={text} what="command" />
    </div>
  );
}

/** The command that installs a package of this release, by address: anybody may own its name in a registry. */
export function installCommand(key: 'cli' | 'webhooks'): string {
  return `npm install "$(curl -fsS ${window.location.origin}/packages/${key})"`;
}
