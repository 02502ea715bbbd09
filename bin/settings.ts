import { readFileSync, writeFileSync } from 'node:fs';
import { z } from 'zod';
import { OWN_NAME } from '../common/config.ts';
import { SETTINGS } from '../stack/parts.ts';

const HEAD = `# Made from the processes' config.ts by npm run generate: do not edit.
#
# Every setting of every process. Unset means the default shown; empty counts as unset.
# Any of them may come from a file: SVC_SIGNER_KEY_FILE names one that holds SVC_SIGNER_KEY.
# npm start sets what is required by itself, and what development needs besides: the indexer's and
# the workers' ports, and loopback for workers and webhooks. Every other setting reaches the
# processes that list it below as you set it. None sees what only others read. Besides, all have the
# usual ones of the system and of Node, such as PATH and NODE_OPTIONS; all but the database and the
# local ledger those of proxies and certificates; the api and the indexer pg's (PGSSLROOTCERT); the
# api OpenTelemetry's.
`;

const WIDTH = 100;
const INDENT = 33;

/** The text of `.env.example`. */
function renderEnvExample(): string {
  const known = new Map<string, string>();
  const sections = Object.entries(SETTINGS).map(([process, schema]) => {
    const own: string[] = [];
    const repeated: string[] = [];
    for (const [name, setting] of Object.entries<z.ZodType>(schema.shape)) {
      const line = renderSetting(name, setting);
      if (known.get(name) === line) repeated.push(name);
      else own.push(line);
      known.set(name, line);
    }
    const above = inLines(repeated).map((names) => `# ${names} as above\n`);
    const heading = `# --- ${process} `;
    return `${heading.padEnd(WIDTH - 4, '-')}\n${own.join('')}${above.join('')}`;
  });
  return [HEAD, ...sections].join('\n');
}

function renderSetting(name: string, setting: z.ZodType): string {
  const isRequired = !setting.safeParse(undefined).success;
  const text = isRequired ? `required: ${setting.description}` : (setting.description ?? '');
  const start = `# ${name}=${fallbackOf(setting)}`;
  return wrap(text, start.length < INDENT ? start.padEnd(INDENT) : `${start} `, '#'.padEnd(INDENT));
}

/** A default as the environment spells it; empty where there is none, or where it is an address. */
function fallbackOf(setting: z.ZodType): string {
  const fallback: unknown = setting instanceof z.ZodDefault ? setting.def.defaultValue : undefined;
  return ['string', 'number', 'boolean'].includes(typeof fallback) ? String(fallback) : '';
}

/** Names in groups that fit a line. */
function inLines(names: readonly string[]): string[] {
  const lines: string[] = [];
  for (const name of names) {
    const longer = `${lines.at(-1)}, ${name}`;
    if (lines.length > 0 && longer.length < WIDTH - INDENT / 2) lines[lines.length - 1] = longer;
    else lines.push(name);
  }
  return lines;
}

/** Lines of at most `WIDTH` characters. */
function wrap(text: string, first: string, next: string): string {
  const lines = [first];
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? '';
    const isStart = line === first || line === next;
    const longer = isStart ? `${line}${word}` : `${line} ${word}`;
    if (longer.length <= WIDTH || isStart) lines[lines.length - 1] = longer;
    else lines.push(`${next}${word}`);
  }
  return `${lines.map((line) => line.trimEnd()).join('\n')}\n`;
}

/** Names that no configuration describes, since only our own processes set them. */
const INTERNAL = ['SVC_PARENT_PID'];

/** The text of `common/settingNames.ts`. */
function renderNames(): string {
  const all = Object.values(SETTINGS).flatMap(({ shape }) => Object.keys(shape));
  const own = [...all, ...INTERNAL].filter((name) => OWN_NAME.test(name));
  const lines = [...new Set(own)].sort().map((name) => `  '${name}',\n`);
  return `// Made from the processes' config.ts by npm run generate: do not edit.

/** The service's own variables, whichever of its processes reads them. */
export const SETTING_NAMES: readonly string[] = [
${lines.join('')}];
`;
}

/** Writes the files; with `--check` it writes nothing and fails where one differs. */
const files = { '.env.example': renderEnvExample(), 'common/settingNames.ts': renderNames() };
for (const [name, text] of Object.entries(files)) {
  const path = new URL(`../${name}`, import.meta.url);
  if (!process.argv.includes('--check')) writeFileSync(path, text);
  else if (readFileSync(path, 'utf8') !== text) {
    throw new Error(`${name} differs from the settings: run npm run generate`);
  }
}
