import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { IDL } from '../../programs/client/index.ts';
import { parseConstants } from '../../programs/tools/idl/parse.ts';
import { renderIdl } from '../../programs/tools/idl/renderIdl.ts';
import { readSource } from '../../programs/tools/idl/source.ts';
import { renderReference } from '../../programs/tools/referencePages.ts';
import { isUnreachable } from '../programs/support/errorCoverage.ts';
import {
  invariantErrors,
  ownErrors,
  returnableErrors,
  structuralErrors,
} from '../programs/support/returnableErrors.ts';
import { checkout } from './documents.ts';

const programs = join(checkout, 'programs');
const source = join(programs, 'escrow/src');
const page = (name: string): string =>
  readFileSync(join(checkout, 'docs/instructions', name), 'utf8');

describe('the committed reference', () => {
  it('has a page for every instruction with its accounts, arguments and event', () => {
    for (const { name, accounts, args } of IDL.instructions) {
      const text = page(`${name}.md`);
      for (const item of [...accounts, ...args]) expect(text).toContain(`| \`${item.name}\` |`);
      expect(text).toMatch(/## Event\n\nEmits \[`\w+`\]\(events\.md#\w+\)/);
      expect(page('README.md')).toContain(`](${name}.md)`);
    }
  });

  it('names for every error who returns it, and for two the dispatch', () => {
    const text = page('errors.md');

    const general = text
      .split('\n## ')
      .filter((section) => section.includes('before any instruction'));

    expect(general.map((section) => section.split('\n')[0])).toEqual([
      'EventAuthorityRequired',
      'UnknownInstruction',
    ]);
  });

  it("has account offsets that add up to the program's account size", () => {
    const rows = [...page('accounts.md').matchAll(/^\| (\d+) \| (\d+) \| `?(\w+)/gm)];
    const last = rows.filter(([, , , name]) => name === 'resolved_after_seconds').at(-1);

    expect(Number(last?.[1]) + Number(last?.[2])).toBe(373);
  });
});

describe('the page of an instruction', () => {
  const returnable = [...returnableErrors()];
  const namesIn = (text: string): string[] =>
    [...text.matchAll(/\[`(\w+)`\]\(errors\.md/g)].map(([, name = '']) => name);
  const errorsOf = (name: string) => {
    const [, section = ''] = /## Errors\n(.*)## Event/s.exec(page(`${name}.md`)) ?? [];
    const [own = '', general = ''] = section.split('General errors:');
    return { own: namesIn(own), general: namesIn(general) };
  };

  it.each(returnable)('lists the errors of its handler, accounts and data: %s', (name, errors) => {
    const { own, general } = errorsOf(name);
    const possible = ownErrors(errors);
    const isReachable = (error: string) => !isUnreachable(name, error);
    const checked = [...structuralErrors(errors), ...invariantErrors(errors)];

    expect(own).toEqual(expect.arrayContaining(possible.filter(isReachable)));
    expect(own.filter((error) => !possible.includes(error))).toEqual([]);
    expect([...own, ...general]).toEqual(expect.arrayContaining(checked.filter(isReachable)));
  });

  it.each(returnable)('names every event that its handler emits: %s', (name) => {
    const handler = readFileSync(join(source, `instructions/${name}.rs`), 'utf8');
    const emitted = [...handler.matchAll(/\b([A-Z]\w+) \{[^;]*?\}\s*\.emit\(/g)];

    const [, said = ''] = page(`${name}.md`).split('\n## Event\n\nEmits ');
    const [own = ''] = said.split(', which readers take for ');
    const named = [...own.matchAll(/\[`(\w+)`\]\(events\.md#/g)];
    const namesOf = (found: RegExpMatchArray[]) => found.map(([, event]) => event).toSorted();
    expect(emitted.length).toBeGreaterThan(0);
    expect(namesOf(named)).toEqual(namesOf(emitted));
  });
});

/** The reference of a program whose source differs in one place. */
describe('the reference of a changed program', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'reference-'));
    cpSync(source, folder, { recursive: true });
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const change = (file: string, from: string, to: string): Map<string, string> => {
    const path = join(folder, file);
    const text = readFileSync(path, 'utf8');
    expect(text).toContain(from);
    writeFileSync(path, text.replace(from, to));
    const idl = JSON.parse(renderIdl(readSource(folder), '0.1.0'));
    idl.constants = [{ name: 'CREDITS_MAX', docs: [], type: 'u64', value: '12345' }];
    return renderReference({ idl, computeUnits: { credit_buy: 1_234 } });
  };

  it('lacks an error that the documentation drops', () => {
    const pages = change('instructions/credit_buy.rs', '//! - `DepositsPaused`\n', '');

    expect(pages.get('credit_buy.md')).not.toContain('DepositsPaused');
    expect(pages.get('errors.md')).toMatch(/## DepositsPaused\n\n.*\n\nReturned before/);
  });

  it('lists the errors in the order of the documentation', () => {
    const line = '//! - `DepositsPaused`\n';
    const other = '//! - `ValueOutOfRange`: `credits` is out of its bounds\n';

    const pages = change('instructions/credit_buy.rs', `${line}${other}`, `${other}${line}`);

    const text = pages.get('credit_buy.md') ?? '';
    expect(text.indexOf('#depositspaused')).toBeGreaterThan(text.indexOf('#valueoutofrange'));
  });

  it("explains an error in the instruction's words, else in the error's", () => {
    const text =
      change('instructions/credit_buy.rs', '`credits` is out of its bounds', 'No credits').get(
        'credit_buy.md',
      ) ?? '';

    expect(text).toContain('| [`ValueOutOfRange`](errors.md#valueoutofrange) | No credits |');
    expect(text).toContain('(errors.md#depositspaused) | Buying credits is paused |');
  });

  it('shows the values of constants, units and measured costs', () => {
    const pages = change('instructions/credit_buy.rs', 'Buys credits', 'Gets credits');

    const text = pages.get('credit_buy.md');
    expect(text).toContain('| `credits` | `u64` | credits | From 1 to `CREDITS_MAX` (12,345) |');
    expect(text).toContain('| compute units | 1,234 |');
    expect(pages.get('README.md')).toContain('| `CREDITS_MAX` | 12,345 |');
    expect(pages.get('README.md')).toContain(
      '| [`credit_buy`](credit_buy.md) | Gets credits for a wallet. Anybody may pay. | `buyer` | 1,234 |',
    );
  });

  it.each([
    ['an error', '- `DepositsPaused`', '- `DepositPaused`', 'the interface has no "DepositPaused"'],
    ['an event', 'Emits `CreditBought`', 'Emits `Bought`', 'the interface has no "Bought"'],
    ['no event', 'Emits `CreditBought`', 'Is silent', 'no event is named in "Is silent."'],
  ])(
    'is not generated when the documentation names %s that does not exist',
    (_, from, to, message) => {
      expect(() => change('instructions/credit_buy.rs', from, to)).toThrow(message);
    },
  );
});

describe('the constants of the reference', () => {
  it('equal those of limits.rs, with their products computed', () => {
    const constants = parseConstants('limits.rs', readFileSync(join(source, 'limits.rs'), 'utf8'));

    expect(constants).toContainEqual({
      name: 'ARBITRATION_WINDOW_SECONDS',
      docs: ['How long the arbiter has to decide.'],
      rustType: 'u32',
      value: 86_400n,
    });
    expect(constants.map(({ name }) => name)).toEqual(
      readFileSync(join(source, 'limits.rs'), 'utf8').match(/(?<=^pub const )\w+/gm),
    );
  });
});
