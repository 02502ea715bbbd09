import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { IDL } from '../../programs/client/index.ts';
import { readSource } from '../../programs/scripts/idl/source.ts';
import { readSteps } from '../../programs/scripts/reference/refusals.ts';
import { renderReference } from '../../programs/scripts/reference/render.ts';
import { RustSource } from '../../programs/scripts/reference/rustSource.ts';
import { anchorsOf, checkout } from './documents.ts';

const programs = join(checkout, 'programs');
const source = join(programs, 'escrow/src');
const page = (name: string): string =>
  readFileSync(join(checkout, 'docs/instructions', name), 'utf8');

describe('the committed reference', () => {
  it('is what the source says', () => {
    const script = join(programs, 'scripts/reference.ts');
    execFileSync(process.execPath, [script, '--check'], { stdio: 'pipe' });
  });

  it('has a page for every instruction, which names its accounts, arguments and event', () => {
    for (const { name, accounts, args } of IDL.instructions) {
      const text = page(`${name}.md`);
      for (const item of [...accounts, ...args]) expect(text).toContain(`| \`${item.name}\` |`);
      expect(text).toMatch(/## Event\n\n\[`\w+`\]\(events\.md#\w+\)/);
      expect(page('README.md')).toContain(`](${name}.md)`);
    }
  });

  it('has an entry for every account, event and error', () => {
    const expected = { accounts: IDL.accounts, events: IDL.events, errors: IDL.errors };
    for (const [name, items] of Object.entries(expected)) {
      const anchors = anchorsOf(page(`${name}.md`));
      expect(anchors).toEqual(
        expect.arrayContaining((items ?? []).map((item) => item.name.toLowerCase())),
      );
    }
  });

  it('says of every error who returns it, and of two that the dispatch does', () => {
    const text = page('errors.md');

    const nobody = text
      .split('\n## ')
      .filter((section) => section.includes('before any instruction'));

    expect(nobody.map((section) => section.split('\n')[0])).toEqual([
      'EventAuthorityRequired',
      'UnknownInstruction',
    ]);
  });

  it('adds up the offsets of an account to the size that the program uses', () => {
    const rows = [...page('accounts.md').matchAll(/^\| (\d+) \| (\d+) \| `?(\w+)/gm)];
    const last = rows.filter(([, , , name]) => name === 'resolved_after_seconds').at(-1);

    expect(Number(last?.[1]) + Number(last?.[2])).toBe(341);
  });
});

describe('the reading of the checks', () => {
  /** Refusals before any handler is reached, and those that hold for every account alike. */
  const MODELLED = [
    'arguments.rs',
    'roles.rs',
    'layout.rs',
    'text.rs',
    'event_writer.rs',
    'lib.rs',
  ];
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.rs'))
    .map((file) => [file, readFileSync(join(source, file), 'utf8')] as const);

  it('overlooks no require! of the program', () => {
    // given a program in which each of them refuses with an error of its own
    const places: string[] = [];
    const marked = files.map(([file, text]) => {
      if (MODELLED.includes(file)) return [file, text] as const;
      const changed = text.replace(/^ +require!\((?:.|\n)*?, *\n? *\w+,?\s*\);$/gm, (statement) =>
        statement.replace(/\w+(?=,?\s*\);$)/, (error) => {
          places.push(`${file}: ${error}`);
          return `Place${places.length - 1}`;
        }),
      );
      return [file, changed] as const;
    });
    const written = files.flatMap(([file, text]) =>
      MODELLED.includes(file) ? [] : (text.match(/^ +require!\(/gm) ?? []),
    );
    expect(places).toHaveLength(written.length);

    // when
    const rust = new RustSource(new Map(marked));
    const steps = readSource(source).instructions.flatMap(({ name }) =>
      readSteps(rust, `instructions/${name}.rs`),
    );

    // then
    const read = new Set(steps.map((step) => (step.kind === 'require' ? step.error : '')));
    expect(places.filter((_, index) => !read.has(`Place${index}`))).toEqual([]);
    expect(places.length).toBeGreaterThan(80);
  });
});

/** The reference of a program whose source differs in one place. */
describe('the reference of a changed program', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'reference-'));
    cpSync(source, join(folder, 'escrow/src'), { recursive: true });
    for (const file of ['escrow/compute-units.json', 'client/idl.json']) {
      cpSync(join(programs, file), join(folder, file), { recursive: true });
    }
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const change = (file: string, from: string, to: string): Map<string, string> => {
    const path = join(folder, 'escrow/src', file);
    const text = readFileSync(path, 'utf8');
    expect(text).toContain(from);
    writeFileSync(path, text.replace(from, to));
    return renderReference(folder, readSource(join(folder, 'escrow/src')));
  };

  it('loses a check that the handler loses', () => {
    const check = 'require!(!config.deposits_paused(), DepositsPaused);';

    const pages = change('instructions/credit_buy.rs', check, '');

    expect(pages.get('credit_buy.md')).not.toContain('DepositsPaused');
    expect(pages.get('errors.md')).toMatch(/## DepositsPaused\n\n.*\n\nReturned before/);
  });

  it('follows a check into the functions that the handler calls', () => {
    const check = 'require!(credits <= self.available_credits(), InsufficientCredits);';

    const pages = change('state/credit_account.rs', check, '');

    expect(pages.get('credit_withdraw.md')).not.toContain('InsufficientCredits');
  });

  it('has the checks in the order in which they are made', () => {
    const line = 'require!(!config.deposits_paused(), DepositsPaused);';
    const other = 'require!((1..=CREDITS_MAX).contains(&arguments.credits), ValueOutOfRange);';

    const pages = change(
      'instructions/credit_buy.rs',
      `${line}\n    ${other}`,
      `${other}\n    ${line}`,
    );

    const text = pages.get('credit_buy.md') ?? '';
    expect(text.indexOf('#depositspaused')).toBeGreaterThan(text.indexOf('#valueoutofrange'));
  });

  it('is not made while a call could refuse in a way that cannot be read', () => {
    expect(() =>
      change(
        'instructions/spender_set.rs',
        'credit_account.changed()?;',
        'somewhere::else_entirely()?;',
      ),
    ).toThrow('instructions/spender_set.rs: what can somewhere::else_entirely in process refuse?');
  });
});
