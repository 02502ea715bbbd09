import anchor from '@coral-xyz/anchor';
import idl from './idl.json' with { type: 'json' };

/** The published interface, as Anchor's own tools read it. */
export const IDL = idl as anchor.Idl;

/** Reads and writes the program's bytes as the IDL says. */
export const coder = new anchor.BorshCoder(IDL);
