import { evaluate } from './constants.ts';
import { eventOf, type Reference } from './instructionPage.ts';
import {
  docsOf,
  fieldsOf,
  hex,
  seedsText,
  typeDocs,
  typeText,
  unitOf,
  widthOf,
} from './interface.ts';
import { code, GENERATED, grouped, table } from './markdown.ts';
import { errorsOf } from './stepErrors.ts';

const instructionLink = (name: string): string => `[${code(name)}](${name}.md)`;

/** The list of instructions, and what all of them have in common. */
export const indexPage = ({ idl, source, computeUnits }: Reference): string => {
  const rows = idl.instructions.map((instruction) => [
    instructionLink(instruction.name),
    docsOf(instruction),
    instruction.accounts
      .filter(({ signer }) => signer)
      .map(({ name }) => code(name))
      .join(', ') || 'nobody',
    grouped(computeUnits[instruction.name] ?? 0),
  ]);
  const limits = [...source.text('limits.rs').matchAll(/^((?:\/\/\/ .*\n)*)pub const (\w+):/gm)];
  const constants = limits.map(([, docs = '', name = '']) => [
    code(name),
    grouped(evaluate(source, name) ?? 0n),
    docs
      .replace(/^\/\/\/ /gm, '')
      .trim()
      .replaceAll('\n', ' '),
  ]);
  return `${GENERATED}# Reference of the escrow program

Program id \`${idl.address}\` (${'`'}programs/client/idl.json${'`'}); other deployments have their own, see [deploying](../deploying.md). Everything here is read from the Rust source, the published interface and the measured compute units.

- [Accounts](accounts.md): layouts with offsets and sizes
- [Events](events.md): what each instruction records
- [Errors](errors.md): numbers, messages, and who returns them

## Instructions

${table(['instruction', 'what it does', 'who signs', 'compute units'], rows)}
## How an instruction is read

- Data: the discriminator (the first 8 bytes of the sha256 of \`global:<name>\`), then the arguments in Borsh, little-endian. Nothing may be left over.
- Accounts: in the order of the page. An optional account that is not given is spelled as the program's own address. Accounts beyond the listed ones are ignored.
- Checks: the table of a page is in the order in which the program asks. \`accounts.\` and \`arguments.\` are what was passed in; \`job\`, \`config\` and so on are the accounts as read; \`clock.unix_time\` is the ledger's clock. A failed check ends the transaction with the named error and changes nothing.
- Event: every instruction that changes something ends by calling the program itself with the event as data, signed by the event authority, so that it lies among the transaction's inner instructions whole. Anchor's own listeners read logs and do not see it; \`decodeEvents\` of the client does.
- Compute units: measured in solana-bankrun on the common path by \`npm run program:compute-units\`, whose token program costs more than that of a cluster.
- An error that is none of the program's comes from the SPL Token or System program it called, with that program's number.

## Constants

${table(['constant', 'value', ''], constants)}`;
};

/** Every account's layout. */
export const accountsPage = ({ idl }: Reference): string => {
  const seeds = new Map(
    idl.instructions
      .flatMap(({ accounts }) => accounts)
      .map((account) => [account.name, seedsText(account)] as const)
      .filter(([, text]) => text !== ''),
  );
  const sections = idl.accounts.map(({ name, discriminator }) => {
    let offset = 8;
    const rows = fieldsOf(idl, name).map((field) => {
      const width = widthOf(field.type) ?? 0;
      const row = [
        `${offset}`,
        `${width}`,
        code(field.name),
        code(typeText(field.type)),
        unitOf(field.name),
        docsOf(field),
      ];
      offset += width;
      return row;
    });
    const snake = name.replace(/(?<=.)([A-Z])/g, '_$1').toLowerCase();
    const address = seeds.get(snake) ?? (name === 'Model' ? '"model", sha256(id)' : '');
    const head = ['0', '8', 'discriminator', code(hex(discriminator)), '', ''];
    return `## ${name}\n\n${typeDocs(idl, name)}. At ${code(`[${address}]`)}, ${grouped(offset)} bytes.\n\n${table(['offset', 'bytes', 'field', 'type', 'unit', ''], [head, ...rows])}`;
  });
  return `${GENERATED}# Accounts

Little-endian, without padding: a field lies at the sum of the widths before it. \`version\` is 1 in all of them. \`sequence\` begins with 1 and grows by one with every change, and the event of the change carries it. Sizes and offsets never change once written; what comes later goes into \`reserved\`.

${sections.join('\n')}`;
};

/** Every event with its fields. */
export const eventsPage = ({ idl, source }: Reference): string => {
  const emitters = new Map(idl.instructions.map(({ name }) => [eventOf(source, name), name]));
  const sections = idl.events.map(({ name, discriminator }) => {
    const rows = fieldsOf(idl, name).map((field) => [
      code(field.name),
      code(typeText(field.type)),
      unitOf(field.name),
      docsOf(field),
    ]);
    return `## ${name}\n\n${typeDocs(idl, name)}. Emitted by ${instructionLink(emitters.get(name) ?? '')}. Discriminator ${code(hex(discriminator))}.\n\n${table(['field', 'type', 'unit', ''], rows)}`;
  });
  return `${GENERATED}# Events

The data of an event's inner instruction is Anchor's event tag (\`e445a52e51cb9a1d\`), the event's discriminator, and its fields in Borsh. Each \`…_sequence\` is that account's after the change; balances and statuses are the resulting ones.

${sections.join('\n')}`;
};

/** More than this and those that do not return an error are the shorter list. */
const GIVERS_MAX = 20;

const giversText = (givers: readonly string[], others: readonly string[]): string => {
  if (givers.length === 0) {
    return 'Returned before any instruction is reached: see `programs/escrow/src/lib.rs`.';
  }
  if (others.length === 0) return 'Returned by every instruction.';
  return givers.length > GIVERS_MAX
    ? `Returned by every instruction but ${others.map(instructionLink).join(', ')}.`
    : `Returned by ${givers.map(instructionLink).join(', ')}.`;
};

/** Every error, and which instructions return it. */
export const errorsPage = ({ idl, readings }: Reference): string => {
  const all = [...readings.keys()];
  const returned = new Map([...readings].map(([name, reading]) => [name, errorsOf(reading)]));
  const sections = idl.errors.map(({ code: number, name, msg }) => {
    const givers = all.filter((instruction) => returned.get(instruction)?.has(name));
    const others = all.filter((instruction) => !givers.includes(instruction));
    const head = `${number} (${code(`0x${number.toString(16)}`)}): ${msg}.`;
    return `## ${name}\n\n${head}\n\n${giversText(givers, others)}\n`;
  });
  return `${GENERATED}# Errors

A refused instruction ends with \`custom program error\` and one of these numbers, which are never reused. \`escrowErrorOf\` of the client names them.

${sections.join('\n')}`;
};
