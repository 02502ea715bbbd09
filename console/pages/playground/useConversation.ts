import { type QueryClient, skipToken, useQuery, useQueryClient } from '@tanstack/react-query';
import type { CompletionRequest } from '../../data/samples.ts';
import { type Answer, NO_ANSWER, receiveAnswer } from './answer.ts';
import { FIRST_SETTINGS, type Settings } from './question.ts';

/** A question with its answer. */
export interface Turn {
  readonly id: number;
  readonly prompt: string;
  /** What was sent for the answer; the question may have been edited since. */
  readonly request: CompletionRequest;
  readonly answer: Answer;
}

export interface Conversation {
  readonly settings: Settings;
  /** What is entered and not sent. */
  readonly draft: string;
  readonly turns: readonly Turn[];
}

const NOTHING: Conversation = { settings: FIRST_SETTINGS, draft: '', turns: [] };
/** Beside what was read of the wallet, so that a sign-out and another wallet remove it too. */
const KEY = ['conversation'];

/** Answers that still come, by their turns. */
const running = new Map<number, AbortController>();
let lastId = 0;

/** The conversation of this tab. It is kept until its page is reloaded or its wallet leaves. */
export function useConversation() {
  const client = useQueryClient();
  const { data: conversation = NOTHING } = useQuery<Conversation>({
    queryKey: KEY,
    queryFn: skipToken,
    ...{ gcTime: Number.POSITIVE_INFINITY, structuralSharing: false },
  });
  const { change, changeTurn, receive } = changesOf(client);
  return {
    conversation,
    change,
    changeTurn,
    /** Asks at the end of the conversation. */
    ask(prompt: string, request: CompletionRequest) {
      const id = ++lastId;
      change(({ turns }) => ({
        draft: '',
        turns: [...turns, { id, prompt, request, answer: NO_ANSWER }],
      }));
      void receive(id, request);
    },
    /** Asks a turn again. Those behind it stay as they are. */
    repeat({ id }: Turn, changes: Partial<Turn> & Pick<Turn, 'request'>) {
      changeTurn(id, { ...changes, answer: NO_ANSWER });
      void receive(id, changes.request);
    },
    stop: ({ id }: Turn) => running.get(id)?.abort(),
    remove({ id }: Turn) {
      running.get(id)?.abort();
      change(({ turns }) => ({ turns: turns.filter((turn) => turn.id !== id) }));
    },
    clear() {
      for (const abort of running.values()) abort.abort();
      change(() => ({ turns: [] }));
    },
  };
}

function changesOf(client: QueryClient) {
  const change = (changed: (current: Conversation) => Partial<Conversation>) =>
    client.setQueryData<Conversation>(KEY, (current = NOTHING) => ({
      ...current,
      ...changed(current),
    }));
  const changeTurn = (id: number, changes: Partial<Turn>) =>
    change(({ turns }) => ({
      turns: turns.map((turn) => (turn.id === id ? { ...turn, ...changes } : turn)),
    }));
  const isKept = (id: number) =>
    client.getQueryData<Conversation>(KEY)?.turns.some((turn) => turn.id === id) === true;

  async function receive(id: number, request: CompletionRequest): Promise<void> {
    const abort = new AbortController();
    running.set(id, abort);
    await receiveAnswer(request, {
      signal: abort.signal,
      show(answer) {
        // Its turn was removed, or its wallet has left.
        if (isKept(id)) changeTurn(id, { answer });
        else abort.abort();
        // A refusal may be the first that the page learns of a suspended key, or of another price.
        if (answer.state !== 'failed') return;
        for (const path of ['/key', '/models']) void client.invalidateQueries({ queryKey: [path] });
      },
    });
    running.delete(id);
  }
  return { change, changeTurn, receive };
}
