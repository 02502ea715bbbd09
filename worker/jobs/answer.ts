import { createHash } from 'node:crypto';
import {
  answerCharactersMax,
  boundTokens,
  estimatePromptTokens,
  estimateTokens,
} from '../../common/tokenizers/tokenCounts.ts';
import { TOKENS_MAX } from '../../common/workerProtocol.ts';
import type { Engine, EngineEvent, Usage } from '../engine/engine.ts';
import type { JobRequest } from '../protocol/contracts.ts';
import { WorkerError } from '../protocol/errors.ts';
import type { EventStream } from '../protocol/eventStream.ts';
import type { Admitted } from './admission.ts';
import { createChunks } from './chunks.ts';
import type { Proof, SignProof } from './proofSigner.ts';

/** The text that was sent so far, as the client will hash it. */
interface Transcript {
  /** Adds one delta of the engine. @returns the text to send now, possibly empty */
  add(delta: string): string;
  /** @returns the text that was held back, after the last delta */
  flush(): string;
  /** sha256 over the UTF-8 of everything returned by `add` and `flush`. */
  outputHash(): Uint8Array;
  /** The same text. */
  readonly text: string;
  /** Its length in UTF-8. */
  readonly bytes: number;
  /** Its length in UTF-16 code units, with what is held back. */
  readonly characters: number;
  /** Deltas of the engine that held text; an engine sends at least one token in each. */
  readonly deltas: number;
}

const HIGH_SURROGATE_AT_END = /[\uD800-\uDBFF]$/;

/**
 * Joins deltas at whole characters. Some upstreams split an escaped surrogate pair. UTF-8 cannot
 * carry a half, so a first half is held back until its second arrives. A lone half becomes U+FFFD.
 */
function createCharacterJoiner() {
  let held = '';
  return {
    add(delta: string): string {
      const ready = held + delta;
      held = HIGH_SURROGATE_AT_END.exec(ready)?.[0] ?? '';
      return ready.slice(0, ready.length - held.length).toWellFormed();
    },
    /** @returns what was held back */
    flush(): string {
      const rest = held.toWellFormed();
      held = '';
      return rest;
    },
    get heldCharacters() {
      return held.length;
    },
  };
}

/** Keeps text, hash and counts of an answer in step. */
function createTranscript(): Transcript {
  const hash = createHash('sha256');
  const joiner = createCharacterJoiner();
  let text = '';
  let bytes = 0;
  let deltas = 0;

  function release(sent: string): string {
    hash.update(sent, 'utf8');
    text += sent;
    bytes += Buffer.byteLength(sent);
    return sent;
  }

  return {
    add(delta) {
      if (delta !== '') deltas += 1;
      return release(joiner.add(delta));
    },
    flush: () => release(joiner.flush()),
    outputHash: () => Uint8Array.from(hash.copy().digest()),
    get text() {
      return text;
    },
    get bytes() {
      return bytes;
    },
    get characters() {
      return text.length + joiner.heldCharacters;
    },
    get deltas() {
      return deltas;
    },
  };
}

type Ending = Extract<EngineEvent, { type: 'end' }>;

/** The end of an answer that was stopped: the text that was sent is the whole answer. */
const CUT_OFF: Ending = { type: 'end', finishReason: 'length' };

/** Readers bound the length of an event, so a longer delta is sent in pieces. */
const PIECE_CHARACTERS_MAX = 65_536;

/**
 * Streams one answer up to its finish chunk and signs the proof of it.
 *
 * The engine starts at once, but no byte is sent before the ledger's check has passed. Counting the
 * engine's deltas enforces a token limit that it ignores: each delta has at least one token. The
 * limit covers the reasoning too; the proof does not.
 *
 * @param admitted the ledger's check, which may still be running
 * @param stop ends the answer early, with a proof of what was sent
 * @param cancel ends it without a proof; its reason is thrown
 * @param onOutput called before the first text or reasoning is sent
 * @throws WorkerError when there is no proof
 */
export async function answer(work: {
  request: JobRequest;
  engine: Engine;
  admitted: Promise<Admitted>;
  stop: AbortSignal;
  cancel: AbortSignal;
  stream: EventStream;
  signProof: SignProof;
  onOutput: () => void;
}): Promise<Proof> {
  const { request, engine, admitted, stop, cancel, stream, signProof, onOutput } = work;
  const tokenLimit = request.token_limit;
  const transcript = createTranscript();
  const chunk = createChunks(request);

  const charactersMax = answerCharactersMax(tokenLimit);
  const hasTokensLeft = (): boolean => transcript.deltas + reasoningDeltas < tokenLimit;
  let hasBegun = false;

  const reasoning = createCharacterJoiner();
  let reasoningDeltas = 0;
  let reasoningCharacters = 0;

  async function send(field: 'content' | 'reasoning_content', text: string): Promise<void> {
    if (text === '') return;
    await admitted;
    if (!hasBegun) {
      hasBegun = true;
      onOutput();
      await stream.send(chunk({ role: 'assistant' }));
    }
    await stream.send(chunk({ [field]: text }));
  }

  /** Sends a delta as far as the answer may be so long. @returns whether that was all of it */
  async function sendWithinLimit(delta: string): Promise<boolean> {
    for (let at = 0; at < delta.length; at += PIECE_CHARACTERS_MAX) {
      const piece = delta.slice(at, at + PIECE_CHARACTERS_MAX);
      const left = hasTokensLeft() ? charactersMax - transcript.characters : 0;
      await send('content', transcript.add(piece.slice(0, left)));
      if (piece.length > left) return false;
    }
    return true;
  }

  /** As `sendWithinLimit`; reasoning of more characters than any answer can have is only life. */
  async function sendReasoning(delta: string): Promise<boolean> {
    if (!hasTokensLeft()) return false;
    reasoningDeltas += 1;
    if (reasoningCharacters + delta.length > charactersMax) await stream.alive();
    else {
      for (let at = 0; at < delta.length; at += PIECE_CHARACTERS_MAX) {
        const piece = delta.slice(at, at + PIECE_CHARACTERS_MAX);
        await send('reasoning_content', reasoning.add(piece));
      }
      reasoningCharacters += delta.length;
    }
    return true;
  }

  async function relay(): Promise<Ending> {
    const signal = AbortSignal.any([stop, cancel]);
    signal.throwIfAborted();
    for await (const event of engine.generate(request.chat, { tokenLimit, signal })) {
      if (event.type === 'end') return event;
      if (event.type === 'alive') {
        await admitted;
        await stream.alive();
        continue;
      }
      const sendDelta = event.type === 'text' ? sendWithinLimit : sendReasoning;
      if (!(await sendDelta(event.text))) return CUT_OFF;
    }
    throw new WorkerError('upstream_failed', 'The answer ended before it was complete');
  }

  async function relayUntilStopped(): Promise<Ending> {
    try {
      return await relay();
    } catch (error) {
      // A refusal by the ledger's check comes before any error of the interrupted engine.
      await admitted;
      cancel.throwIfAborted();
      if (stop.aborted) return CUT_OFF;
      throw error;
    }
  }

  const { finishReason, usage } = await relayUntilStopped();
  await admitted;
  await send('reasoning_content', reasoning.flush());
  await send('content', transcript.flush());
  cancel.throwIfAborted();
  if (transcript.bytes === 0) {
    // The finish reason shows the gateway whether the reasoning used the token limit up.
    if (hasBegun) await stream.send(chunk({}, finishReason));
    throw stop.aborted
      ? new WorkerError('stopped_before_output', 'The job was stopped before it had any output')
      : new WorkerError('empty_output', 'The model gave an empty answer');
  }
  await stream.send(chunk({}, finishReason));
  const outcome = {
    job: request.job_address,
    attempt: request.attempt,
    outputHash: transcript.outputHash(),
    promptTokens: Math.min(
      usage?.promptTokens ?? estimatePromptTokens(request.chat.messages),
      TOKENS_MAX,
    ),
    completionTokens: Math.min(claimableTokens(transcript, usage, reasoningDeltas > 0), tokenLimit),
  };
  return await signProof(outcome, cancel);
}

/**
 * The tokens of the delivered text alone. An upstream may count its reasoning's tokens wrongly or not
 * at all. So after reasoning the proof claims no more than the text can hold by any tokenizer.
 */
function claimableTokens(
  { text, bytes }: Transcript,
  usage: Usage | undefined,
  hasReasoned: boolean,
): number {
  const { completionTokens = 0, reasoningTokens = 0 } = usage ?? {};
  const counted = Math.max(0, completionTokens - reasoningTokens);
  const most = hasReasoned || reasoningTokens > 0 ? boundTokens(text) : bytes;
  return Math.min(counted || estimateTokens(text), most);
}
