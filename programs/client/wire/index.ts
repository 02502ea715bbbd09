export { type CompiledMessage, compileMessage } from './compile.ts';
export { decodeMessage, decodeTransaction } from './decode.ts';
export * from './message.ts';
export { MalformedTransactionError } from './reader.ts';
