/**
 * The program's interface as `idl.json` has it. Every value of these types is an `Idl` of Anchor too,
 * so that Anchor's tools take it. It does not need Anchor.
 */
export interface Interface {
  address: string;
  metadata: { name: string; version: string; spec: string; description: string };
  instructions: InstructionInterface[];
  accounts: KindInterface[];
  events: KindInterface[];
  errors: { name: string; code: number; msg: string }[];
  types: { name: string; docs?: string[]; type: StructInterface | EnumInterface }[];
  constants: { name: string; docs?: string[]; type: FieldType; value: string }[];
}

export interface InstructionInterface {
  name: string;
  docs?: string[];
  discriminator: number[];
  accounts: AccountInterface[];
  args: Field[];
}

export interface AccountInterface {
  name: string;
  docs?: string[];
  writable?: boolean;
  signer?: boolean;
  optional?: boolean;
  /** Its only possible address, such as another program's. */
  address?: string;
  pda?: { seeds: Seed[] };
}

type Seed =
  | { kind: 'const'; value: number[] }
  | { kind: 'arg'; path: string }
  | { kind: 'account'; path: string };

/** A kind of account or event, by the bytes that it begins with. */
interface KindInterface {
  name: string;
  discriminator: number[];
}

interface StructInterface {
  kind: 'struct';
  fields: Field[];
}

interface EnumInterface {
  kind: 'enum';
  variants: { name: string }[];
}

/** An argument of an instruction, or a field of an account or event. */
export interface Field {
  name: string;
  docs?: string[];
  type: FieldType;
}

/** The types that occur in the program's interface. */
export type FieldType =
  | 'bool'
  | 'u8'
  | 'u16'
  | 'u32'
  | 'u64'
  | 'i64'
  | 'string'
  | 'pubkey'
  | { array: [FieldType, number] }
  | { vec: FieldType }
  | { defined: { name: string } };

/** `credits_per_1k_tokens` → `creditsPer1kTokens`: the IDL's names in TypeScript's form. */
export function camelCase(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_match, letter: string) => letter.toUpperCase());
}

/** `UpheldGateway` → `upheld_gateway`: the IDL's variants in this client's form. */
export function snakeCase(name: string): string {
  return name.replace(/(?<=.)[A-Z]/g, (letter) => `_${letter}`).toLowerCase();
}
