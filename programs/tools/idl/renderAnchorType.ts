import { HEADER } from './renderTypeScript.ts';

/**
 * The IDL as the TypeScript type that Anchor's `Program<Escrow>` takes: literal, without
 * documentation, and with names in the form that Anchor gives them.
 *
 * @param idl the JSON text
 */
export const renderAnchorType = (idl: string): string => {
  const { metadata, ...rest } = JSON.parse(idl) as Record<string, unknown>;
  const members = Object.entries({ metadata, ...rest }).map(([key, value]) =>
    Array.isArray(value)
      ? `  ${key}: [\n${value.map((item) => `    ${renderLiteral(key, item)},\n`).join('')}  ];\n`
      : `  ${key}: ${renderLiteral(key, value)};\n`,
  );
  return `${HEADER}\n/** The program's interface, for Anchor's \`Program<Escrow>\`. */\nexport type Escrow = {\n${members.join('')}};\n`;
};

/** The strings that are names; Anchor spells a path's parts, too. */
const NAME_KEYS = new Set(['name', 'path', 'account']);

const renderLiteral = (key: string, value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map((item) => renderLiteral(key, item)).join(', ')}]`;
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).filter(([name]) => name !== 'docs' && name !== 'msg');
    return `{ ${members.map(([name, item]) => `${name}: ${renderLiteral(name, item)}`).join('; ')} }`;
  }
  if (typeof value !== 'string') return String(value);
  return JSON.stringify(NAME_KEYS.has(key) ? anchorCase(value) : value);
};

/** Anchor's own spelling: `credits_per_1k_tokens` → `creditsPer1KTokens`, `JobLocked` → `jobLocked`. */
const anchorCase = (name: string): string => {
  const words = /^[A-Z0-9_]+$/.test(name) ? name.toLowerCase() : name;
  const joined = words.replace(/_+(\d*[a-z])/g, (_, start: string) => start.toUpperCase());
  return joined.charAt(0).toLowerCase() + joined.slice(1);
};
