/** The command that installs a package of this release, by address: anybody may own its name in a registry. */
export function installCommand(key: 'cli' | 'webhooks'): string {
  return `npm install "$(curl -fsS ${window.location.origin}/packages/${key})"`;
}
