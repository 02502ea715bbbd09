import { useQueryClient } from '@tanstack/react-query';
import { createStore, useStore } from '../../data/browserStore.ts';
import { readAgain } from '../../data/queries.ts';
import type { CompletionRequest } from '../../data/samples.ts';
import { onLeavingWallet } from '../../data/sessionEnd.ts';
import { type Answer, NO_ANSWER, receiveAnswer } from './answer.ts';
import { endedAt, type Spoken } from './conversation.ts';
import { FIRST_SETTINGS, type Settings } from './question.ts';

/** A question with its answer. */
export interface Turn extends Spoken {
  readonly id: number;
  /** What was sent for the answer; the question may have been edited since. */
  readonly request: CompletionRequest;
  readonly answer: Answer;
}

interface Conversation {
  readonly settings: Settings;
  /** What is entered and not sent. */
  readonly draft: string;
  readonly turns: readonly Turn[];
}

const NOTHING: Conversation = { settings: FIRST_SETTINGS, draft: '', turns: [] };

/** It outlives the page, and not the document. */
const store = createStore(NOTHING);
/** Answers that still come, by their turns. */
const running = new Map<number, AbortController>();
let lastId = 0;

onLeavingWallet(() => {
  stopAll();
  store.set(NOTHING);
});

// An answer that still comes is charged, and none of what was read can be had again.
store.subscribe(() => {
  const { turns, draft } = store.get();
  const hasSome = turns.length > 0 || draft !== '';
  window[hasSome ? 'addEventListener' : 'removeEventListener']('beforeunload', askBefore);
});

function askBefore(leaving: Event): void {
  leaving.preventDefault();
}

function stopAll(): void {
  for (const abort of running.values()) abort.abort();
}

function change(changed: (current: Conversation) => Partial<Conversation>): void {
  store.set({ ...store.get(), ...changed(store.get()) });
}

function changeTurn(id: number, changes: Partial<Turn>): void {
  change(({ turns }) => ({
    turns: turns.map((turn) => (turn.id === id ? { ...turn, ...changes } : turn)),
  }));
}

/** Ends what only goes on from the calls of this turn, as they go. */
function endAt(id: number): void {
  change(({ turns }) => {
    const kept = endedAt(turns, id);
    for (const one of turns) if (!kept.includes(one)) running.get(one.id)?.abort();
    return { turns: kept };
  });
}

/** The conversation of this tab. It is kept until its page is left, which asks first, or its wallet leaves. */
export function useConversation() {
  const client = useQueryClient();

  async function receive(id: number, request: CompletionRequest): Promise<void> {
    const abort = new AbortController();
    running.set(id, abort);
    await receiveAnswer(request, {
      signal: abort.signal,
      show(answer) {
        changeTurn(id, { answer });
        // A refusal may be the first that the page learns of a suspended key, or of another price.
        if (answer.state !== 'failed') return;
        void readAgain(client, ['/key', '/models']);
      },
    });
    running.delete(id);
  }

  return {
    conversation: useStore(store),
    change,
    changeTurn,
    /** Asks at the end of the conversation. */
    ask(prompt: string | null, request: CompletionRequest) {
      const id = ++lastId;
      change(({ turns, draft }) => ({
        draft: prompt === null ? draft : '',
        turns: [...turns, { id, prompt, request, answer: NO_ANSWER, results: [] }],
      }));
      void receive(id, request);
    },
    /** Asks a turn again. Those behind it stay as they are, but for what its calls led to. */
    repeat({ id }: Turn, changes: Partial<Turn> & Pick<Turn, 'request'>) {
      endAt(id);
      changeTurn(id, { ...changes, answer: NO_ANSWER, results: [] });
      void receive(id, changes.request);
    },
    stop: ({ id }: Turn) => running.get(id)?.abort(),
    remove({ id }: Turn) {
      running.get(id)?.abort();
      endAt(id);
      change(({ turns }) => ({ turns: turns.filter((turn) => turn.id !== id) }));
    },
    clear() {
      stopAll();
      change(() => ({ turns: [] }));
    },
  };
}
