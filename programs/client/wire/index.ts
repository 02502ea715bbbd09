export { decodeMessage, decodeTransaction, isWritable } from './decode.ts';
export {
  compileMessage,
  encodeDraft,
  encodeMessage,
  encodeTransaction,
  nameOfKey,
} from './encode.ts';
export * from './message.ts';
export { MalformedTransactionError } from './reader.ts';
