import type { Access, ReadPath, SessionObject } from '../../api/contracts/index.ts';

/** `readAccess` of the contracts. The build writes it here, since the contracts would bring their schemas. */
declare const READ_ACCESS: Readonly<Record<string, Access>>;

const ACCESS = READ_ACCESS;

/** Whether the answer is the same for every reader. */
export const isPublic = (path: string): boolean => ACCESS[path] === 'public';

/** Whether a reader may ask for this, by the route's contract. */
export function mayRead(path: ReadPath, session: SessionObject | null): boolean {
  if (session === null) return isPublic(path);
  const { operator, arbiter } = session.roles;
  if (ACCESS[path] === 'operator') return operator;
  return ACCESS[path] === 'arbiter' ? arbiter || operator : true;
}
