import type { TransactionInstruction } from '@solana/web3.js';
import type { EscrowErrorName } from '../../../../programs/client/index.ts';
import { freshWorld } from '../freshWorld.ts';
import type { World } from '../world.ts';

/** Changes of a valid instruction, or steps that end in them. */
type Given<Input> = Partial<Input> | ((world: World) => Promise<Partial<Input>> | Partial<Input>);

/** Why, and of what, an instruction is refused; then the nearest one that is taken. */
export type Row<Input> = readonly [
  refusal: EscrowErrorName,
  what: string,
  refused: Given<Input>,
  taken?: Given<Input>,
];

type Compose = (world: World) => Promise<TransactionInstruction>;

/** One refusal of one instruction. */
export interface Case {
  readonly instruction: string;
  readonly refusal: EscrowErrorName;
  readonly what: string;
  readonly start: () => Promise<World>;
  readonly refused: Compose;
  readonly taken: Compose | undefined;
}

/** @param make a valid instruction, but for these changes */
export function casesOf<Input extends object>(
  instruction: string,
  make: (
    world: World,
    changes: Partial<Input>,
  ) => TransactionInstruction | Promise<TransactionInstruction>,
  rows: readonly Row<Input>[],
  start: () => Promise<World> = freshWorld,
): Case[] {
  const compose =
    (given: Given<Input>): Compose =>
    async (world) =>
      make(world, typeof given === 'function' ? await given(world) : given);
  return rows.map(([refusal, what, refused, taken]) => ({
    instruction,
    refusal,
    what,
    start,
    refused: compose(refused),
    taken: taken && compose(taken),
  }));
}

/** After this step, which succeeds, the instruction has these changes. */
export const after =
  <Argument, Input extends object>(
    step: (world: World, argument: Argument) => unknown,
    argument?: Argument,
    changes: Partial<Input> = {},
  ): ((world: World) => Promise<Partial<Input>>) =>
  async (world) => {
    await step(world, argument as Argument);
    return changes;
  };

/** Rows in which one field has a value beyond its range; the value after it is the last within. */
export const bounds = <Input extends object>(
  refusal: EscrowErrorName,
  fields: readonly (readonly [field: keyof Input & string, beyond: unknown, within?: unknown])[],
): Row<Input>[] =>
  fields.map(([field, beyond, within]) => {
    const refused = { [field]: beyond } as Partial<Input>;
    const what = `${field} of ${beyond}`;
    if (within === undefined) return [refusal, what, refused];
    return [refusal, what, refused, { [field]: within } as Partial<Input>];
  });

/** The same instruction with another byte in its data, for a word that no client writes. */
export function withByte(
  instruction: TransactionInstruction,
  at: number,
  byte: number | undefined,
): TransactionInstruction {
  if (byte !== undefined) instruction.data[at] = byte;
  return instruction;
}
