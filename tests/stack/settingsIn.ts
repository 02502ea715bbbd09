import { readFileSync } from 'node:fs';
import { secretsKeySettings } from '../../common/sealing.ts';

/** All variables that a process parses. */
export function settingsIn(path: string): string[] {
  const source = readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
  const own = [...source.matchAll(/^ {2}([A-Z][A-Z0-9_]*): /gm)].map(([, name = '']) => name);
  const isSealing = /^ {2}\.\.\.secretsKeySettings,$/m.test(source);
  return isSealing ? [...own, ...Object.keys(secretsKeySettings)] : own;
}
