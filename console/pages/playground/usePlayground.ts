import { useEffect } from 'react';
import { useRead } from '../../data/queries.ts';
import { trialModel } from '../../data/samples.ts';
import { useMissingCredits } from '../../session/needsCredits.tsx';
import { boundsOf, priceOf, readSettings, requestOf, type Settings } from './question.ts';
import { type Turn, useConversation } from './useConversation.ts';

export type Playground = ReturnType<typeof usePlayground>;

/** The conversation, what may be asked at present, and its price. */
export function usePlayground() {
  const catalog = useRead('/models');
  const keyState = useRead('/key');
  const hasCredits = useMissingCredits() === undefined;
  const conversing = useConversation();
  const { conversation, change, ask, repeat, stop } = conversing;
  const { draft, turns, settings } = conversation;
  const models = catalog.data?.data ?? [];
  const modelId = settings.model;
  const changeSettings = (changes: Partial<Settings>) =>
    change(({ settings: current }) => ({ settings: { ...current, ...changes } }));
  // What was proposed stays, though a later catalog would propose another model.
  const isProposed = modelId === '' && models.length > 0;
  useEffect(() => {
    if (isProposed) changeSettings({ model: trialModel(models) });
  });
  const model = models.find(({ id }) => id === modelId);
  const supported: readonly string[] = model?.svc.supported_parameters ?? [];
  const hasTools = supported.includes('tools');
  const read = readSettings(settings, { hasTools });
  const { options, wrong } = read;
  const price =
    model && wrong.tokens === undefined ? boundsOf(priceOf(model), options.max_tokens) : undefined;
  const make = (prompt: string | null, before: readonly Turn[]) =>
    requestOf(
      { prompt, before },
      { model: modelId, system: settings.system, options },
      { maxCredits: price?.locked },
    );
  const running = turns.find(({ answer }) => answer.state === 'running');
  const isAllowed = hasCredits && keyState.data?.key?.status === 'active';
  const mayAsk = isAllowed && Boolean(price) && Object.keys(wrong).length === 0 && !running;
  const next = make(draft, turns);
  return {
    ...conversing,
    catalog,
    keyState,
    settings,
    read,
    hasTools,
    price,
    next,
    mayAsk,
    changeSettings,
    isRunning: running !== undefined,
    canAsk: mayAsk && draft.trim() !== '',
    send: () => ask(draft, next),
    /** Sends the results of the last turn's calls, so that its answer goes on. */
    sendResults: () => ask(null, make(null, turns)),
    /** Asks a turn again with the settings as they are now. */
    askAgain: (turn: Turn, prompt = turn.prompt) =>
      repeat(turn, { prompt, request: make(prompt, turns.slice(0, turns.indexOf(turn))) }),
    stop() {
      if (running) stop(running);
    },
  };
}
