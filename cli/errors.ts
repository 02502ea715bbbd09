/** Something that whoever typed the command can put right; the message says how. */
export class CommandError extends Error {
  override name = 'CommandError';
}
