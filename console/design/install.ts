/** The command that installs a package of this service's release: never by name, which is anybody's. */
export function installCommand(key: 'cli' | 'webhooks'): string {
  return `npm install "$(curl -fsS ${window.location.origin}/packages/${key})"`;
}
