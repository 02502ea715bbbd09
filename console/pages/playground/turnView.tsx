import { useState } from 'react';
import { Button } from '../../design/button.tsx';
import { TextArea } from '../../design/field.tsx';
import { Row } from '../../design/page.tsx';
import { AnswerView } from './answerView.tsx';
import styles from './playgroundPage.module.css';
import type { Turn } from './useConversation.ts';
import type { Playground } from './usePlayground.ts';

/** A question of the conversation with its answer. */
export function TurnView(props: {
  turn: Turn;
  number: number;
  playground: Playground;
  onRemoved: () => void;
}) {
  const { turn, number, playground, onRemoved } = props;
  const { mayAsk, askAgain, remove, repeat } = playground;
  const [isEdited, setEdited] = useState(false);
  const canRepeat = mayAsk && turn.answer.state !== 'running';
  return (
    <article className={styles.turn} aria-label={`Turn ${number}`}>
      {isEdited ? (
        <PromptEditor
          turn={turn}
          playground={playground}
          canRepeat={canRepeat}
          onDone={() => setEdited(false)}
        />
      ) : (
        <div className={styles.question}>
          {turn.prompt === null ? (
            <p className="soft">The results of the calls above.</p>
          ) : (
            <p className={styles.prompt}>{turn.prompt}</p>
          )}
          <Row>
            {turn.prompt !== null && (
              <Button size="small" kind="quiet" onClick={() => setEdited(true)}>
                Edit
              </Button>
            )}
            <Button size="small" kind="quiet" disabled={!canRepeat} onClick={() => askAgain(turn)}>
              Repeat
            </Button>
            <Button
              size="small"
              kind="quiet"
              onClick={() => {
                remove(turn);
                onRemoved();
              }}
            >
              Remove
            </Button>
          </Row>
        </div>
      )}
      <AnswerView
        turn={turn}
        number={number}
        playground={playground}
        onAgree={(credits) =>
          repeat(turn, { request: { ...turn.request, max_credits: Number(credits) } })
        }
      />
    </article>
  );
}

function PromptEditor(props: {
  turn: Turn;
  playground: Playground;
  canRepeat: boolean;
  onDone: () => void;
}) {
  const {
    turn,
    playground: { changeTurn, askAgain },
    canRepeat,
    onDone,
  } = props;
  const [prompt, setPrompt] = useState(turn.prompt ?? '');
  const isEmpty = prompt.trim() === '';
  return (
    <div className={styles.question}>
      <TextArea
        autoFocus
        label="Edited message"
        rows={3}
        value={prompt}
        hint="Later questions are asked behind it. The answer stays until it is asked again."
        onChange={({ target }) => setPrompt(target.value)}
        onKeyDown={({ key }) => {
          if (key === 'Escape') onDone();
        }}
      />
      <Row>
        <Button
          size="small"
          disabled={isEmpty}
          onClick={() => {
            changeTurn(turn.id, { prompt });
            onDone();
          }}
        >
          Keep the answer
        </Button>
        <Button
          size="small"
          disabled={isEmpty || !canRepeat}
          onClick={() => {
            askAgain(turn, prompt);
            onDone();
          }}
        >
          Ask it again
        </Button>
        <Button size="small" kind="quiet" onClick={onDone}>
          Cancel
        </Button>
      </Row>
    </div>
  );
}
