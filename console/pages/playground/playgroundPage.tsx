import { useState } from 'react';
import { Link } from 'wouter';
import type { ConsoleModel, KeyState } from '../../../api/console/contracts/index.ts';
import { useRead } from '../../data/queries.ts';
import { type CompletionRequest, trialModel } from '../../data/samples.ts';
import { Button } from '../../design/button.tsx';
import { CompletionCode } from '../../design/completionCode.tsx';
import { SelectField, TextArea, TextField } from '../../design/field.tsx';
import { Notice, Reading } from '../../design/notice.tsx';
import { PageHeader, Row } from '../../design/page.tsx';
import { APP_PAGES } from '../../routes.ts';
import { NeedsCredits, useMissingCredits } from '../../session/needsCredits.tsx';
import { AnswerView } from './answerView.tsx';
import styles from './playgroundPage.module.css';
import { useCompletion } from './useCompletion.ts';

export default function PlaygroundPage() {
  const catalog = useRead('/models');
  const models = catalog.data?.data ?? [];
  const keyState = useRead('/key');
  const isAble = useMissingCredits() === undefined;
  const { answer, ask, stop } = useCompletion();
  const [isCode, setCode] = useState(false);
  const { fields, set, maxTokens, request, isWhole } = useQuestion(models);
  const canAsk = isWhole && isAble && keyState.data?.key?.status === 'active';
  const send = () => void ask(request);

  return (
    <>
      <PageHeader {...APP_PAGES['/console/playground'].head}>
        <Button aria-pressed={isCode} onClick={() => setCode(!isCode)}>
          Show as code
        </Button>
      </PageHeader>
      {catalog.error && <Reading of={catalog} what="the models" />}
      {keyState.error && <Reading of={keyState} what="the state of your key" />}
      {keyState.data && <KeyObstacle state={keyState.data} />}
      <NeedsCredits />
      {isCode && <CompletionCode request={request} />}
      <div className={styles.split}>
        <div className={styles.entry}>
          <div className={styles.pair}>
            <SelectField
              label="Model"
              options={models.map(({ id }) => [id, id] as const)}
              value={fields.model}
              onChange={set('model')}
            />
            <TextField
              label="At most so many tokens"
              inputMode="numeric"
              value={fields.tokens}
              error={maxTokens === null ? 'A whole number, at least 1.' : undefined}
              onChange={set('tokens')}
            />
          </div>
          <TextArea
            label="Instructions (optional)"
            rows={2}
            value={fields.system}
            onChange={set('system')}
          />
          <TextArea
            label="Message"
            rows={6}
            data-search
            value={fields.prompt}
            hint="⌘ Enter sends it. It is kept nowhere."
            onChange={set('prompt')}
            onKeyDown={(event) => {
              if (event.key === 'Enter' && (event.metaKey || event.ctrlKey) && canAsk) send();
            }}
          />
          <Row>
            <Button kind="primary" disabled={!canAsk || answer?.isRunning} onClick={send}>
              Send
            </Button>
            {answer?.isRunning && <Button onClick={stop}>Stop</Button>}
          </Row>
        </div>
        <AnswerView answer={answer} />
      </div>
    </>
  );
}

/** Why the wallet's key cannot ask for anything, and what changes it. */
function KeyObstacle({ state: { key, suspension } }: { readonly state: KeyState }) {
  if (suspension) {
    return (
      <Notice tone="bad">
        <p>Your wallet is suspended: {suspension.reason}</p>
        <p>Your credits stay yours.</p>
      </Notice>
    );
  }
  if (key !== null) return null;
  return (
    <Notice tone="info">
      <p>
        The playground asks with your API key's rights.{' '}
        <Link href="/console/settings">Create the key</Link> first.
      </p>
    </Notice>
  );
}

/** What is entered, and the request that it makes. */
function useQuestion(models: readonly ConsoleModel[]) {
  const [entered, setEntered] = useState({ model: '', system: '', prompt: '', tokens: '256' });
  const model = entered.model || (models.length > 0 ? trialModel(models) : '');
  const { system, prompt, tokens } = entered;
  const maxTokens = tokens.trim() === '' ? undefined : parseTokens(tokens);
  const request: CompletionRequest = {
    model,
    messages: [
      ...(system.trim() ? [{ role: 'system', content: system }] : []),
      { role: 'user', content: prompt },
    ],
    ...(typeof maxTokens === 'number' && { max_tokens: maxTokens }),
    stream: true,
  };
  return {
    fields: { ...entered, model },
    set:
      (name: keyof typeof entered) =>
      ({ target }: { readonly target: { readonly value: string } }) =>
        setEntered({ ...entered, [name]: target.value }),
    maxTokens,
    request,
    isWhole: prompt.trim() !== '' && model !== '' && maxTokens !== null,
  };
}

/** A whole number of tokens from 1 on; null for something else. */
function parseTokens(text: string): number | null {
  return /^[1-9]\d{0,6}$/.test(text.trim()) ? Number(text.trim()) : null;
}
