import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { PROJECT_FOLDER } from '../../testing/childProcess.ts';

export const COMPOSE_FOLDER = join(PROJECT_FOLDER, 'deploy/compose');

/** What the tests read of a service; the schema of compose files knows the rest. */
export interface ComposeService {
  image: string;
  command: string[];
  user: string;
  read_only: boolean;
  cap_drop: string[];
  cap_add?: string[];
  security_opt: string[];
  network_mode?: string;
  ports?: string[];
  profiles?: string[];
  secrets?: string[];
  volumes?: string[];
  environment?: Record<string, string>;
  healthcheck?: { test: string[] };
  depends_on?: Record<string, { condition: string }>;
}

export interface ComposeFile {
  services: Record<string, ComposeService>;
  secrets: Record<string, { file: string }>;
}

/** A file as it is written, with its anchors resolved. */
export function readComposeFile(name: string): unknown {
  return parse(readFileSync(join(COMPOSE_FOLDER, name), 'utf8'), { merge: true });
}

/** Several files as one, as `docker compose -f … -f …` reads them, without any variable set. */
export function readCompose(...names: string[]): ComposeFile {
  const files = names.map((name) => interpolate(readComposeFile(name)));
  return files.reduce(mergeInto) as ComposeFile;
}

/** `${NAME:-default}` is the default, and `${NAME}` is not used. */
function interpolate(value: unknown): unknown {
  if (typeof value === 'string') return value.replace(/\$\{\w+:-([^}]*)\}/g, '$1');
  if (Array.isArray(value)) return value.map(interpolate);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, interpolate(part)]));
}

function mergeInto(base: unknown, addition: unknown): unknown {
  const areMaps = [base, addition].every(
    (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  );
  if (!areMaps) return addition;
  const merged = { ...(base as Record<string, unknown>) };
  for (const [key, part] of Object.entries(addition as Record<string, unknown>)) {
    merged[key] = key in merged ? mergeInto(merged[key], part) : part;
  }
  return merged;
}
