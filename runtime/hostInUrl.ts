/** A host as a URL spells it: an IPv6 address, whose colons would be taken for a port's, in brackets. */
export function hostInUrl(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}
