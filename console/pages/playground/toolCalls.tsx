import { Button } from '../../design/button.tsx';
import { TextArea } from '../../design/field.tsx';
import { Row } from '../../design/page.tsx';
import { ToolCallBlock } from '../../design/toolCall.tsx';
import type { Turn } from './useConversation.ts';
import type { Playground } from './usePlayground.ts';

/** The calls of an answer, each with a field for its result once they have ended. */
export function ToolCalls({ turn, playground }: { turn: Turn; playground: Playground }) {
  const { conversation, mayAsk, changeTurn, sendResults } = playground;
  const {
    id,
    answer: { calls, state },
    results,
  } = turn;
  const isLast = conversation.turns.at(-1)?.id === id;
  const enter = (index: number, result: string) => {
    const before = calls.map((_, at) => results[at] ?? '');
    changeTurn(id, { results: before.with(index, result) });
  };
  return (
    <>
      {calls.map((call, index) => (
        <ToolCallBlock key={index} call={call} number={index + 1}>
          {state !== 'running' && (
            <TextArea
              label={`Result of call ${index + 1}`}
              rows={2}
              isCode
              value={results[index] ?? ''}
              onChange={({ target }) => enter(index, target.value)}
            />
          )}
        </ToolCallBlock>
      ))}
      {state !== 'running' && isLast && (
        <Row>
          <Button disabled={!mayAsk} onClick={sendResults}>
            {calls.length === 1 ? 'Send the result' : 'Send the results'}
          </Button>
          <span className="hint">
            Your program runs a tool, not this page. Empty is sent as empty.
          </span>
        </Row>
      )}
    </>
  );
}
