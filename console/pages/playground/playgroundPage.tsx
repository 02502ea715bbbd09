import { type RefObject, useRef, useState } from 'react';
import { Link } from 'wouter';
import type { KeyState } from '../../../api/contracts/index.ts';
import { Button } from '../../design/button.tsx';
import { CompletionCode } from '../../design/completionCode.tsx';
import { TextArea } from '../../design/field.tsx';
import { Notice, Reading } from '../../design/notice.tsx';
import { PageHeader, Row } from '../../design/page.tsx';
import { APP_PAGES } from '../../routes.ts';
import { NeedsCredits } from '../../session/needsCredits.tsx';
import styles from './playgroundPage.module.css';
import { PriceLine } from './priceLine.tsx';
import { SettingsFields } from './settingsFields.tsx';
import { TurnView } from './turnView.tsx';
import { type Playground, usePlayground } from './usePlayground.ts';

export default function PlaygroundPage() {
  const playground = usePlayground();
  const { catalog, keyState, conversation, settings, read } = playground;
  const [isCode, setCode] = useState(false);
  const message = useRef<HTMLTextAreaElement>(null);
  return (
    <>
      <PageHeader {...APP_PAGES['/console/playground'].head}>
        {conversation.turns.length > 0 && (
          <Button
            onClick={() => {
              playground.clear();
              message.current?.focus();
            }}
          >
            New conversation
          </Button>
        )}
        <Button aria-pressed={isCode} onClick={() => setCode(!isCode)}>
          Show as code
        </Button>
      </PageHeader>
      {catalog.error && <Reading of={catalog} what="the models" />}
      {keyState.error && <Reading of={keyState} what="the state of your key" />}
      {keyState.data && <KeyObstacle state={keyState.data} />}
      <NeedsCredits />
      {isCode && <RequestCode of={playground} />}
      <div className={styles.split}>
        <div className={styles.conversation}>
          {conversation.turns.map((turn, index) => (
            <TurnView
              key={turn.id}
              turn={turn}
              playground={playground}
              number={index + 1}
              onRemoved={() => message.current?.focus()}
            />
          ))}
          <Composer of={playground} field={message} />
        </div>
        <SettingsFields
          models={catalog.data?.data ?? []}
          settings={settings}
          read={read}
          hasTools={playground.hasTools}
          onChange={playground.changeSettings}
        />
      </div>
    </>
  );
}

/** Where the next message is written, with its price. */
function Composer({
  of: { conversation, change, price, canAsk, send, isRunning, stop },
  field,
}: {
  of: Playground;
  field: RefObject<HTMLTextAreaElement | null>;
}) {
  return (
    <div className={styles.composer}>
      <TextArea
        ref={field}
        label="Message"
        rows={3}
        value={conversation.draft}
        hint="Enter with Ctrl or ⌘ sends it. Only this tab keeps it, and asks before it is left."
        onChange={({ target }) => change(() => ({ draft: target.value }))}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.metaKey || event.ctrlKey) && canAsk) send();
        }}
      />
      {price && <PriceLine {...price} />}
      <Row>
        <Button kind="primary" disabled={!canAsk} onClick={send}>
          Send
        </Button>
        {isRunning && <Button onClick={stop}>Stop</Button>}
      </Row>
    </div>
  );
}

/** The code of what Send sends, or of what was sent while nothing is entered. */
function RequestCode({ of: { next, conversation } }: { of: Playground }) {
  const sent = conversation.draft.trim() === '' ? conversation.turns.at(-1)?.request : undefined;
  return (
    <div className={styles.code}>
      <p className="soft">
        {sent ? 'The last request, as it was sent.' : 'The request, as Send sends it.'}
      </p>
      <CompletionCode request={sent ?? next} />
    </div>
  );
}

/** Why the wallet's key cannot ask for anything, and what changes it. */
function KeyObstacle({ state: { key, suspension } }: { state: KeyState }) {
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
