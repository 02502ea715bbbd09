/** An owner has to do something first; the message says what. */
export class SetupError extends Error {
  override name = 'SetupError';
}
