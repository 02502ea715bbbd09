/** The service on a ledger, as the processes that work there are told of it. */
export interface Deployment {
  rpcUrl: string;
  wsUrl: string;
  /** Address of the wallet that the stack's API key belongs to. */
  wallet: string;
  /** Whether the stack made that wallet, so that nobody else has a key of it. */
  isOwnWallet: boolean;
  /** Base64 of 32 bytes: what is kept secret in the database is sealed under it. */
  secretsKey: string;
  /** Settings, secrets among them, that a process cannot take from the stack's own environment. */
  apiEnvironment: NodeJS.ProcessEnv;
  indexerEnvironment: NodeJS.ProcessEnv;
  /** The workers whose processes belong to the stack. */
  workers: readonly DeployedWorker[];
}

export interface DeployedWorker {
  environment: NodeJS.ProcessEnv;
  /** Makes the ledger say that it listens there. */
  register(endpoint: string): Promise<void>;
}
