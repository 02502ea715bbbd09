/**
 * What an error says went wrong. Of a host with several addresses, as `localhost` has where there is
 * IPv6, Node gives one error for each of them and no message of its own.
 */
export function reasonOf(error: unknown): string {
  const { message = '', errors } = (error ?? {}) as { message?: string; errors?: unknown[] };
  if (message === '' && errors) return errors.map(reasonOf).join('; ');
  return message || String(error);
}
