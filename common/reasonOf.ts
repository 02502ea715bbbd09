/**
 * What an error says went wrong. For a host with several addresses, such as `localhost` with IPv6,
 * Node gives an error without a message that holds one error for each address.
 */
export function reasonOf(error: unknown): string {
  const { message = '', errors } = (error ?? {}) as { message?: string; errors?: unknown[] };
  if (message === '' && errors) return errors.map(reasonOf).join('; ');
  return message || String(error);
}
