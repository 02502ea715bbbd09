import { randomInt } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Random } from '../../common/seededRandom.ts';
import type { ChatRequest } from '../protocol/contracts.ts';
import { WorkerError } from '../protocol/errors.ts';
import type { EngineEvent } from './engine.ts';
import { asRecord, type RawCalls } from './upstreamChunk.ts';

type CallEvent = Extract<EngineEvent, { type: 'call' }>;

const ID_CHARACTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const ID_LENGTH = 24;

/** An id for a call whose server gave none. */
export function makeCallId(random: Random = { below: (bound) => randomInt(bound) }): string {
  const drawn = Array.from({ length: ID_LENGTH }, () =>
    ID_CHARACTERS.charAt(random.below(ID_CHARACTERS.length)),
  );
  return `call_${drawn.join('')}`;
}

/** Whether an answer may call a tool at all. */
export const mayCall = ({ tools, tool_choice }: Pick<ChatRequest, 'tools' | 'tool_choice'>) =>
  (tools?.length ?? 0) > 0 && tool_choice !== 'none';

/** What one delta says of one call; empty where it does not say it. */
interface Part {
  index: number | undefined;
  id: string;
  name: string;
  text: string;
  /** Whether it is of a whole message, and its place in the list there. */
  isWhole: boolean;
  at: number;
}

interface Call {
  /** Its place among the calls that have begun; undefined until its name is known. */
  index: number | undefined;
  /** As the server has it, which may be empty or another call's. */
  serverId: string;
  name: string;
  text: string;
}

/**
 * Puts the calls of one answer right: servers number them wrongly, repeat or leave out their fields, and
 * send whole ones. The events that come out begin each call once, in order, with an id of its own.
 * Without tools that may be called there are none.
 */
export function createCallReader(chat: ChatRequest) {
  const isAsked = mayCall(chat);
  const callsMax = chat.parallel_tool_calls === false ? 1 : Number.POSITIVE_INFINITY;
  const calls: Call[] = [];
  const byIndex = new Map<number, Call>();
  const ids = new Set<string>();

  /** @returns undefined for a part that begins a call */
  function callOf(part: Part): Call | undefined {
    const atIndex = part.index === undefined ? undefined : byIndex.get(part.index);
    // Some servers give all calls the same id.
    const isOfId = ({ serverId }: Call) => serverId !== '' && serverId === part.id;
    const known = atIndex && isOfId(atIndex) ? atIndex : calls.findLast(isOfId);
    if (known && (part.name === '' || part.name === known.name)) {
      return isFurther(known, part) ? undefined : known;
    }
    // A place that no call has is a further one's only with its name.
    const isElsewhere = part.index !== undefined && part.name !== '';
    const current = part.isWhole ? calls[part.at] : isElsewhere ? undefined : calls.at(-1);
    const found = atIndex ?? current;
    if (!found || found.name === '') return found;
    // A server that numbers a call otherwise in its first delta goes on with the last one.
    if (part.name === '') return parseObject(found.text) ? calls.at(-1) : found;
    const hasOtherId = part.id !== '' && found.serverId !== '';
    return hasOtherId || part.name !== found.name || isFurther(found, part) ? undefined : found;
  }

  function begin(): Call {
    const call: Call = { index: undefined, serverId: '', name: '', text: '' };
    calls.push(call);
    return call;
  }

  function* write(call: Call, part: Part): Generator<CallEvent> {
    const rest = restOf(call, part);
    call.serverId ||= part.id;
    call.text += rest;
    if (calls.indexOf(call) >= callsMax) return;
    if (call.index !== undefined) {
      if (rest !== '') yield { type: 'call', index: call.index, text: rest };
      return;
    }
    call.name = part.name;
    if (call.name === '') return;
    call.index = calls.filter(({ index }) => index !== undefined).length;
    const id = call.serverId === '' || ids.has(call.serverId) ? makeCallId() : call.serverId;
    ids.add(id);
    yield { type: 'call', index: call.index, id, name: call.name, text: call.text };
  }

  return {
    /** Whether any call has begun. */
    get hasCalls() {
      return calls.some(({ index }) => index !== undefined);
    },
    /** Whether a call was left out that `parallel_tool_calls` forbids: the usage counts it. */
    get hasDropped() {
      return calls.length > callsMax;
    },
    *read({ entries, isWhole }: RawCalls): Generator<CallEvent> {
      if (!isAsked) return;
      for (const [at, entry] of entries.entries()) {
        const part = { ...readPart(entry), isWhole, at };
        if (part.id + part.name + part.text === '') continue;
        const found = callOf(part);
        const call = found ?? begin();
        if (part.index !== undefined && (!found || !byIndex.has(part.index))) {
          byIndex.set(part.index, call);
        }
        yield* write(call, part);
      }
    },
    /** @throws WorkerError `upstream_failed` for a call that never got its name */
    end(): void {
      if (calls.slice(0, callsMax).every(({ index }) => index !== undefined)) return;
      throw new WorkerError('upstream_failed', 'The upstream called a tool without a name');
    },
  };
}

/** Whether a part says again what is known of a call: it has the same id, or is of a whole message. */
function isAgain({ serverId, text }: Call, part: Part): boolean {
  const isSame = part.isWhole || (part.id !== '' && part.id === serverId);
  return isSame && part.name !== '' && text !== '';
}

/** Whether a part is of another call of the same tool: the arguments of this one are whole. */
function isFurther(call: Call, part: Part): boolean {
  if (part.name === '' || part.text.trim() === '') return false;
  const known = parseObject(call.text);
  if (known === undefined) return false;
  return !(isAgain(call, part) && isDeepStrictEqual(known, parseObject(part.text)));
}

/** What a part adds to the arguments of its call. */
function restOf(call: Call, part: Part): string {
  if (!isAgain(call, part)) return part.text;
  if (part.isWhole && part.text.startsWith(call.text)) return part.text.slice(call.text.length);
  // Further ones are calls of their own, so these are the same, perhaps with other blanks.
  return parseObject(call.text) === undefined ? part.text : '';
}

/** @returns undefined for what is not yet, or not at all, the JSON of an object */
function parseObject(text: string): object | undefined {
  if (!/^\s*\{.*\}\s*$/s.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    // A closing bracket within the arguments.
    return undefined;
  }
}

function readPart(entry: unknown): Omit<Part, 'isWhole' | 'at'> {
  const outer = asRecord(entry);
  const fields = { ...outer, ...asRecord(outer.function) };
  const index = Number(outer.index ?? Number.NaN);
  return {
    index: Number.isInteger(index) ? index : undefined,
    id: readWord(outer.id),
    name: readWord(fields.name),
    text: readArguments(fields.arguments),
  };
}

const readWord = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : '';

/** Some servers send them as the object that they are the text of. */
function readArguments(value: unknown): string {
  if (typeof value === 'string') return value;
  return value == null ? '' : JSON.stringify(value);
}
