import { baseType, type RustFunction, type RustSource } from './rustSource.ts';
import { openOf } from './rustText.ts';

/** Where an expression stands: what its names are, and which file they are looked up from. */
export interface Scope {
  source: RustSource;
  item: RustFunction;
  /** The type of each local name, without references */
  types: ReadonlyMap<string, string>;
}

/** The function that a call means, by what is written before its parenthesis, if it is ours. */
export const findCallee = (scope: Scope, head: string): RustFunction | undefined => {
  const { source, item } = scope;
  const [, before = '', joint = '', name = ''] =
    /^(.*?)(\.|::)?\s*(\w+)(?:::<[^()]*>)?$/s.exec(head.trimEnd()) ?? [];
  if (joint === '.') return source.find(item.file, typeOf(scope, before) ?? '?', name);
  if (joint === '') return source.find(item.file, '', name);
  const path = before === 'Self' ? item.owner : before;
  // A path that is no type of ours is a module.
  return (
    source.find(item.file, source.hasType(path) ? path : '', name) ??
    source.find(item.file, path, name)
  );
};

/** The type of an expression, without references and `Result`, if it can be told. */
export const typeOf = (scope: Scope, expression: string): string | undefined => {
  const text = expression
    .trim()
    .replace(/\?$/, '')
    .replace(/^[&*](?:mut )?/, '')
    .trimEnd();
  const { source, item, types } = scope;
  if (/^\w+$/.test(text)) return types.get(text);
  if (text.endsWith(')')) {
    const head = text.slice(0, openOf(text, text.length - 1));
    const declared = /^(Arguments::decode|Accounts::load)$/.exec(head)?.[1]?.split('::')[0];
    const loaded = /\bload(?:_mut)?::<(\w+)>$/.exec(head)?.[1];
    if (declared ?? loaded) return declared ?? loaded;
    const callee = findCallee(scope, head);
    return callee && baseType(callee.returns).replace(/^Self$/, callee.owner);
  }
  if (text.endsWith('}')) return /^(\w+)\s*\{/.exec(text)?.[1]?.replace(/^Self$/, item.owner);
  const [, receiver, field = ''] = /^(.+)\.(\w+)$/s.exec(text) ?? [];
  if (receiver === undefined) return undefined;
  const type = source.fieldType(item.file, typeOf(scope, receiver) ?? '?', field);
  return type === undefined ? undefined : baseType(type);
};
