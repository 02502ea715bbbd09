import type { ConsoleModel } from '../../../api/contracts/index.ts';
import { SelectField, TextArea, TextField } from '../../design/field.tsx';
import styles from './playgroundPage.module.css';
import type { readSettings, Settings } from './question.ts';
import { choicesOf } from './tools.ts';

/** How the model is asked. What is empty is left to the service. */
export function SettingsFields(props: {
  models: readonly ConsoleModel[];
  settings: Settings;
  read: ReturnType<typeof readSettings>;
  hasTools: boolean;
  onChange: (changes: Partial<Settings>) => void;
}) {
  const {
    models,
    settings,
    read: { options, wrong },
    hasTools,
    onChange,
  } = props;
  const field = (name: keyof Settings, label: string) => ({
    label,
    value: settings[name],
    error: wrong[name],
    onChange: ({ target }: { readonly target: { readonly value: string } }) =>
      onChange({ [name]: target.value }),
  });
  return (
    <section className={styles.settings} aria-label="Settings">
      <SelectField options={models.map(({ id }) => id)} {...field('model', 'Model')} />
      <TextField inputMode="numeric" {...field('tokens', 'Max tokens')} />
      <TextArea rows={3} {...field('system', 'Instructions (optional)')} />
      <div className={styles.pair}>
        <TextField
          inputMode="decimal"
          placeholder="0 to 2"
          {...field('temperature', 'Temperature')}
        />
        <TextField inputMode="decimal" placeholder="0 to 1" {...field('topP', 'top_p')} />
      </div>
      <TextField inputMode="numeric" placeholder="a whole number" {...field('seed', 'Seed')} />
      <TextArea
        rows={2}
        isCode
        hint="One a line. \n is a new line, \t a tab and \\ a backslash."
        {...field('stop', 'Stop sequences')}
      />
      {hasTools && (
        <>
          <TextArea
            rows={6}
            isCode
            hint="A preview. The list as JSON, of functions that the answer may call."
            {...field('tools', 'Tools')}
          />
          {options.tools && (
            <SelectField
              options={choicesOf(options.tools)}
              hint="One that forces a call is left out behind results."
              {...field('toolChoice', 'Choice of a tool')}
            />
          )}
        </>
      )}
    </section>
  );
}
