import { useState } from 'react';
import { Link } from 'wouter';
import { useConfig } from '../../data/ledger.ts';
import { useRead } from '../../data/queries.ts';
import { type CompletionRequest, completionSamples, trialModel } from '../../data/samples.ts';
import { Button } from '../../design/button.tsx';
import { CodeTabs } from '../../design/code.tsx';
import { SelectField, TextArea, TextField } from '../../design/field.tsx';
import { Notice, Reading } from '../../design/notice.tsx';
import { PageHeader, Row } from '../../design/page.tsx';
import { APP_PAGES } from '../../routes.ts';
import { NeedsCredits, useMissingCredits } from '../../session/needsCredits.tsx';
import { AnswerView } from './answerView.tsx';
import styles from './playgroundPage.module.css';
import { useCompletion } from './useCompletion.ts';

/** A whole number of tokens from 1 on; undefined for nothing. */
function parseTokens(text: string): number | undefined {
  return /^[1-9]\d{0,6}$/.test(text.trim()) ? Number(text.trim()) : undefined;
}

export default function PlaygroundPage() {
  const config = useConfig();
  const catalog = useRead('/models');
  const models = catalog.data?.data ?? [];
  const keyState = useRead('/key');
  const { key, suspension } = keyState.data ?? {};
  const isAble = useMissingCredits() === undefined;
  const { answer, ask, stop } = useCompletion();
  const [chosen, setChosen] = useState('');
  const [system, setSystem] = useState('');
  const [prompt, setPrompt] = useState('');
  const [tokens, setTokens] = useState('256');
  const [isCode, setCode] = useState(false);
  const model = chosen || (models.length > 0 ? trialModel(models) : '');
  const maxTokens = parseTokens(tokens);
  const isTokensWrong = tokens.trim() !== '' && maxTokens === undefined;
  const isWhole = prompt.trim() !== '' && model !== '' && !isTokensWrong;
  const canAsk = isWhole && isAble && key?.status === 'active';

  const question: CompletionRequest = {
    model,
    messages: [
      ...(system.trim() ? [{ role: 'system', content: system }] : []),
      { role: 'user', content: prompt },
    ],
    ...(maxTokens !== undefined && { max_tokens: maxTokens }),
    stream: true,
  };
  const send = () => void ask(question);

  return (
    <>
      <PageHeader {...APP_PAGES['/console/playground'].head}>
        <Button aria-pressed={isCode} onClick={() => setCode(!isCode)}>
          Show as code
        </Button>
      </PageHeader>
      {catalog.error && <Reading of={catalog} what="the models" />}
      {keyState.error && <Reading of={keyState} what="the state of your key" />}
      {key === null && !suspension && (
        <Notice tone="info">
          <p>
            The playground asks with your API key's rights.{' '}
            <Link href="/console/settings">Create the key</Link> first.
          </p>
        </Notice>
      )}
      <NeedsCredits />
      {suspension && (
        <Notice tone="bad">
          <p>Your wallet is suspended: {suspension.reason}</p>
          <p>Your credits stay yours.</p>
        </Notice>
      )}
      {isCode && (
        <CodeTabs
          samples={completionSamples({
            publicUrl: config?.public_url ?? window.location.origin,
            request: question,
          })}
        />
      )}
      <div className={styles.split}>
        <div className={styles.entry}>
          <div className={styles.pair}>
            <SelectField
              label="Model"
              options={models.map(({ id }) => [id, id] as const)}
              value={model}
              onChange={({ target }) => setChosen(target.value)}
            />
            <TextField
              label="At most so many tokens"
              inputMode="numeric"
              value={tokens}
              error={isTokensWrong ? 'A whole number, at least 1.' : undefined}
              onChange={({ target }) => setTokens(target.value)}
            />
          </div>
          <TextArea
            label="Instructions (optional)"
            rows={2}
            value={system}
            onChange={({ target }) => setSystem(target.value)}
          />
          <TextArea
            label="Message"
            rows={6}
            data-search
            value={prompt}
            hint="⌘ Enter sends it. It is kept nowhere."
            onChange={({ target }) => setPrompt(target.value)}
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
