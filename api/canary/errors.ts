/** Workers cannot be tried as it was asked for, or not to the end; the message says why. */
export class CanaryRefusedError extends Error {
  override name = 'CanaryRefusedError';
}
