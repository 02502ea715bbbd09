import { redirectHelius } from './redirectHelius.ts';

// Loaded before the indexer's own modules, in a process that a test starts.
redirectHelius(process.env.TEST_HELIUS_ORIGIN as string);
