import { createHash } from 'node:crypto';
import { createDeltaData } from '../../common/format.ts';
import {
  answerCharactersMax,
  boundTokens,
  estimatePromptTokens,
  estimateTokens,
} from '../../common/tokenizers/tokenCounts.ts';
import {
  type FinishReason,
  type StopReason,
  TOKENS_MAX,
  TOOL_CALLS_MAX,
} from '../../common/workerProtocol.ts';
import { type AnswerDetails, answerDetails, statementOf } from '../../programs/client/statement.ts';
import type { Engine, EngineEvent, Usage } from '../engine/engine.ts';
import type { JobRequest } from '../protocol/contracts.ts';
import { WorkerError } from '../protocol/errors.ts';
import type { EventStream } from '../protocol/eventStream.ts';
import { createAnswerCalls } from './answerCalls.ts';
import { createCharacterJoiner } from './characters.ts';
import type { Proof, SignProof } from './proofSigner.ts';

/** One job, and its connections to engine and caller. */
interface Work {
  request: JobRequest;
  engine: Engine;
  /** Ends the answer early, with a proof of what was sent. Its reason is a `StopReason`. */
  stop: AbortSignal;
  /** Ends it without a proof; its reason is thrown. */
  cancel: AbortSignal;
  /** Aborts with either. */
  ends: AbortSignal;
  stream: EventStream;
  signProof: SignProof;
  /** Called before the first text, call or reasoning is sent. */
  onOutput: () => void;
}

/**
 * Streams one answer up to its finish chunk and signs the proof of it.
 *
 * @throws WorkerError when there is no proof
 */
export async function answer(work: Work): Promise<Proof> {
  const { request, stop, cancel, signProof } = work;
  const writer = createAnswerWriter(work);
  const { finishReason, truncated = null, usage } = await relay(work, writer);
  await writer.flush();
  cancel.throwIfAborted();
  const { transcript, calls, sent } = writer;
  if (finishReason === 'stop' || finishReason === 'tool_calls') calls.requireWhole();
  const toolCalls = calls.list;
  if (transcript.bytes === 0 && toolCalls.length === 0) {
    // The finish reason shows the gateway whether the reasoning used the token limit up.
    if (sent.hasBegun) await writer.finish(finishReason);
    throw stop.aborted
      ? new WorkerError('stopped_before_output', 'The job was stopped before it had any output')
      : new WorkerError('empty_output', 'The model gave an empty answer');
  }
  await writer.finish(finishReason, truncated);
  const promptTokens = usage?.promptTokens ?? estimatePromptTokens(request.chat.messages);
  const parts = [transcript.text, ...toolCalls.map((call) => call.name + call.arguments)];
  const completionTokens = claimableTokens(parts, usage, sent.reasoningDeltas > 0);
  const proven = {
    job: request.job_address,
    attempt: request.attempt,
    outputHash: transcript.outputHash(),
    promptTokens: Math.min(promptTokens, TOKENS_MAX),
    completionTokens: Math.min(completionTokens, request.token_limit),
    statement: statementOf({
      requestCommitment: request.requestCommitment,
      answerDetails: answerDetails({
        finishReason,
        truncated,
        reasoning: sent.reasoning,
        toolCalls,
      }),
    }),
  };
  return signProof(proven, cancel);
}

/** How an answer ended: by its engine, or here. */
type AnswerEnd = Pick<Extract<EngineEvent, { type: 'end' }>, 'finishReason' | 'usage'> &
  Partial<Pick<AnswerDetails, 'truncated'>>;

/** At a limit: the text that was sent is the whole answer. */
const CUT_OFF: AnswerEnd = { finishReason: 'length' };
const CUT_BY_DEADLINE: AnswerEnd = { ...CUT_OFF, truncated: 'deadline' };

/** Passes on what the engine generates, up to its end or the limits. */
async function relay(work: Work, writer: AnswerWriter): Promise<AnswerEnd> {
  const { request, engine, stop, cancel, ends: signal } = work;
  try {
    signal.throwIfAborted();
    const limits = { tokenLimit: request.token_limit, signal };
    for await (const event of engine.generate(request.chat, limits)) {
      if (event.type === 'end') return event;
      if (!(await writer.send(event))) return CUT_OFF;
    }
    throw new WorkerError('upstream_failed', 'The answer ended before it was complete');
  } catch (error) {
    cancel.throwIfAborted();
    if (!stop.aborted) throw error;
    const reason: StopReason = stop.reason;
    return reason === 'deadline' ? CUT_BY_DEADLINE : CUT_OFF;
  }
}

type CallEvent = Extract<EngineEvent, { type: 'call' }>;

/** Readers bound the length of an event, so a longer delta is sent in pieces. */
const PIECE_CHARACTERS_MAX = 65_536;

type AnswerWriter = ReturnType<typeof createAnswerWriter>;

/**
 * Sends an answer within its limits. Counting the engine's deltas enforces a token limit that it
 * ignores: each delta has at least one token. The limit covers the reasoning too; the proof does not.
 */
function createAnswerWriter({ request, stream, onOutput }: Work) {
  const deltaData = createDeltaData({
    id: `chatcmpl-${request.job_id}`,
    object: 'chat.completion.chunk',
    created: Math.floor(Date.now() / 1_000),
    model: request.chat.model,
  });
  const charactersMax = answerCharactersMax(request.token_limit);
  const transcript = createTranscript();
  const calls = createAnswerCalls(request.chat);
  const reasoning = createCharacterJoiner();
  const sent = { hasBegun: false, reasoningDeltas: 0, reasoning: '' };
  const hasTokensLeft = () =>
    transcript.deltas + calls.deltas + sent.reasoningDeltas < request.token_limit;
  const charactersLeft = () => charactersMax - transcript.characters - calls.characters;

  async function write(delta: object): Promise<void> {
    if (!sent.hasBegun) {
      sent.hasBegun = true;
      onOutput();
      await stream.send(deltaData({ role: 'assistant' }));
    }
    await stream.send(deltaData(delta));
  }

  async function writeField(field: 'content' | 'reasoning_content', text: string): Promise<void> {
    if (text !== '') await write({ [field]: text });
  }

  async function writeText(delta: string): Promise<boolean> {
    for (const piece of piecesOf(delta)) {
      const left = hasTokensLeft() ? charactersLeft() : 0;
      await writeField('content', transcript.add(piece.slice(0, left)));
      if (piece.length > left) return false;
    }
    return true;
  }

  async function writeCall({ index, id = '', name, text }: CallEvent): Promise<boolean> {
    if (!hasTokensLeft() || index >= TOOL_CALLS_MAX) return false;
    calls.count();
    if (name !== undefined) {
      if (name.length > charactersLeft()) return false;
      await write({ tool_calls: [calls.begin({ index, id, name })] });
    }
    for (const piece of piecesOf(text)) {
      const left = charactersLeft();
      const delta = calls.add(index, piece.slice(0, left));
      if (delta) await write({ tool_calls: [delta] });
      if (piece.length > left) return false;
    }
    return true;
  }

  async function writeThought(text: string): Promise<void> {
    sent.reasoning += text;
    await writeField('reasoning_content', text);
  }

  /** Reasoning beyond the characters of any answer only shows that the model works. */
  async function writeReasoning(delta: string): Promise<boolean> {
    if (!hasTokensLeft()) return false;
    sent.reasoningDeltas += 1;
    if (sent.reasoning.length + delta.length > charactersMax) return alive();
    for (const piece of piecesOf(delta)) await writeThought(reasoning.add(piece));
    return true;
  }

  async function alive(): Promise<true> {
    await stream.alive();
    return true;
  }

  return {
    transcript,
    calls,
    sent,
    /** @returns whether all of it is within the limits */
    async send(event: Exclude<EngineEvent, { type: 'end' }>): Promise<boolean> {
      if (event.type === 'text') return writeText(event.text);
      if (event.type === 'call') return writeCall(event);
      if (event.type === 'reasoning') return writeReasoning(event.text);
      return alive();
    },
    /** Sends what was held back. */
    async flush(): Promise<void> {
      await writeThought(reasoning.flush());
      await writeField('content', transcript.flush());
    },
    finish: (reason: FinishReason, truncated: AnswerDetails['truncated'] = null) =>
      stream.send(deltaData({}, reason, truncated ? { truncated } : {})),
  };
}

function* piecesOf(delta: string): Generator<string> {
  for (let at = 0; at < delta.length; at += PIECE_CHARACTERS_MAX) {
    yield delta.slice(at, at + PIECE_CHARACTERS_MAX);
  }
}

/** The text that was sent so far, as the client will hash it, with its hash and counts in step. */
function createTranscript() {
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
    /** Adds one delta of the engine. @returns the text to send now, possibly empty */
    add(delta: string): string {
      if (delta !== '') deltas += 1;
      return release(joiner.add(delta));
    },
    /** @returns the text that was held back, after the last delta */
    flush: () => release(joiner.flush()),
    /** sha256 over the UTF-8 of everything returned by `add` and `flush`. */
    outputHash: () => Uint8Array.from(hash.copy().digest()),
    /** The same text. */
    get text() {
      return text;
    },
    /** Its length in UTF-8. */
    get bytes() {
      return bytes;
    },
    /** Its length in UTF-16 code units, with what is held back. */
    get characters() {
      return text.length + joiner.heldCharacters;
    },
    /** Deltas of the engine that held text; an engine sends at least one token in each. */
    get deltas() {
      return deltas;
    },
  };
}

/**
 * The tokens of what was delivered alone. An upstream may count its reasoning's tokens wrongly or not
 * at all. So after reasoning the proof claims no more than that can hold by any tokenizer.
 *
 * @param parts the text, and of each call its name with its arguments
 */
function claimableTokens(
  parts: readonly string[],
  usage: Usage | undefined,
  hasReasoned: boolean,
): number {
  const { completionTokens = 0, reasoningTokens = 0 } = usage ?? {};
  const counted = Math.max(0, completionTokens - reasoningTokens);
  const most = hasReasoned || reasoningTokens > 0 ? boundTokens : Buffer.byteLength;
  const sumOf = (count: (part: string) => number) =>
    parts.reduce((sum, part) => sum + count(part), 0);
  return Math.min(counted || sumOf(estimateTokens), sumOf(most));
}
