import { type Bindings, bindable, bindFields } from './bindings.ts';
import { chainStart } from './blocks.ts';
import { type Body, conditionsAt } from './conditions.ts';
import { findCallee, typeOf } from './expressionType.ts';
import { explain } from './names.ts';
import type { RustFunction } from './rustSource.ts';
import { closeOf, oneLine, splitList } from './rustText.ts';
import type { Placed, Step } from './steps.ts';

/** Reads a called function, with what its caller passed and the conditions of the call. */
type Descend = (item: RustFunction, passed: Bindings, when: string[]) => Step[];

/** Written by the macro `layout!` for every account. */
const CHANGES = new Set(['changed', 'invariant']);
/** These fail only where the runtime itself would; the other two are read as refusals. */
const NEVER_REFUSES = new Set(['close', 'emit', 'map_err', 'ok_or']);

/** Calls that pass a failure on: those with `?`, in last place, or returned. */
export const readCalls = (body: Body, descend: Descend): Placed[] => {
  const code = body.item.body;
  return [...code.matchAll(/(\w+)(?:::<[^()]*>)?\(/g)].flatMap((found) => {
    const open = found.index + found[0].length - 1;
    const at = closeOf(code, open);
    const isMethod = /\.\s*$/.test(code.slice(0, found.index));
    const start = chainStart(code, isMethod ? code.lastIndexOf('.', found.index) : found.index + 1);
    const head = code.slice(isMethod ? start : pathStart(code, found.index), open);
    const rest = code.slice(at + 1);
    const isReturned = /\breturn $/.test(code.slice(0, start)) && rest.startsWith(';');
    const passesOn = rest.startsWith('?') || rest.trim() === '' || isReturned;
    const name = found[1] ?? '';
    if (!passesOn || ['Ok', 'Err', 'Some'].includes(name)) return [];
    return [{ at, steps: readCall(body, { name, head, open, at }, descend) }];
  });
};

const pathStart = (code: string, at: number): number =>
  at - (/(?:\w+::)+$/.exec(code.slice(0, at))?.[0].length ?? 0);

interface Call {
  name: string;
  /** What is written before the parenthesis */
  head: string;
  open: number;
  at: number;
}

const readCall = (body: Body, { name, head, open, at }: Call, descend: Descend): Step[] => {
  const { item } = body;
  const values = splitList(item.body.slice(open + 1, at));
  const receiver = head.slice(0, head.lastIndexOf('.')).trim();
  if (head === 'Arguments::decode') return [{ kind: 'arguments', when: [] }];
  if (head === 'Accounts::load') return [{ kind: 'accounts', when: [] }];
  if (name === 'load' || name === 'load_mut') return [readLoad(body, head, values, at)];
  if (name === 'or_overflow') return [{ kind: 'overflow', when: [] }];
  if (CHANGES.has(name)) {
    const invariant: Step = { kind: 'invariant', when: [], type: typeOf(body, receiver) ?? '?' };
    return name === 'changed' ? [{ kind: 'overflow', when: [] }, invariant] : [invariant];
  }
  if (name === 'invoke' || name === 'invoke_signed') return readForeign(body, receiver, at);
  if (NEVER_REFUSES.has(name)) return [];
  const callee = findCallee(body, head);
  if (callee?.returns.startsWith('Result')) {
    return descend(callee, passedTo(body, callee, receiver, values), conditionsAt(body, at));
  }
  if (callee !== undefined) return [];
  throw new Error(`${item.file}: what can ${oneLine(head)} in ${item.name} refuse?`);
};

const readLoad = (body: Body, head: string, values: string[], at: number): Step => {
  const code = body.item.body;
  const annotated = /let \w+: &(?:mut )?(\w+) =\s*$/.exec(
    code.slice(0, code.lastIndexOf(head, at)),
  );
  const type = /<(\w+)>/.exec(head)?.[1] ?? annotated?.[1];
  if (type === undefined) throw new Error(`${body.item.file}: what does ${head} load?`);
  const account = bindable(values[0] ?? '', body.bindings);
  return {
    kind: 'load',
    when: conditionsAt(body, at),
    account,
    names: explain(body.meanings, account),
    type,
  };
};

const readForeign = (body: Body, receiver: string, at: number): Step[] => {
  const instruction = /^(\w+)/.exec(receiver)?.[1] ?? '';
  if (!/^[A-Z]/.test(instruction)) throw new Error(`${body.item.file}: what is called?`);
  const isSystem = new RegExp(`pinocchio_system::instructions::\\{[^}]*\\b${instruction}\\b`);
  const program = isSystem.test(body.source.text(body.item.file)) ? 'System' : 'SPL Token';
  return [{ kind: 'call', when: conditionsAt(body, at), program, instruction }];
};

/** A struct that is written out in place is called by its type's name. */
const receiverName = (body: Body, receiver: string): string => {
  const literal = /^(\w+)\s*\{/.exec(receiver)?.[1];
  return literal === undefined ? bindable(receiver, body.bindings) : literal.toLowerCase();
};

/** What a function's names stand for when it is called like this. */
const passedTo = (
  body: Body,
  callee: RustFunction,
  receiver: string,
  values: readonly string[],
): Bindings => {
  const { bindings } = body;
  const passed = new Map(bindFields(receiver, 'self', bindings));
  if (receiver !== '') passed.set('self', receiverName(body, receiver));
  for (const [index, { name, type }] of callee.parameters.entries()) {
    const value = values[index] ?? '';
    for (const [path, given] of bindFields(value, name, bindings)) passed.set(path, given);
    // A struct that is written out is known by its fields.
    if (!value.endsWith('}')) passed.set(name, bindable(value, bindings));
    const length = /^\[u8; (\d+)\]$/.exec(typeOf(body, value) ?? '')?.[1];
    if (length !== undefined && type.includes('[u8; N]')) passed.set('N', length);
  }
  return passed;
};
