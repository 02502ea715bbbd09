/**
 * Between the first word and the others. No engine has its last word, or its proof, in the moment of
 * its first one; of a server that sent both at once, the first word's time could not be told.
 */
export const GENERATION_MS = 2;
