/** Something that whoever typed `npm start` can put right; the message says how. */
export class StackError extends Error {
  override name = 'StackError';
}
