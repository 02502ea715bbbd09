import { ConfigError } from '../../common/config.ts';
import {
  AddressRefusedError,
  assertNameAllowed,
  assertUrlAllowed,
  isLoopbackHost,
  type ResolveName,
  resolveName,
} from '../../common/net/addressGuard.ts';
import { loadConfig } from '../config.ts';
import { SetupError } from './setupError.ts';

/**
 * Checks an endpoint as gateways do: a worker that they refuse would stake and earn nothing.
 *
 * @param allowsLoopback as the service does, in development
 * @returns the endpoint as routes are appended to it
 * @throws SetupError with what has to be named instead
 */
export async function requireEndpoint(
  text: string,
  allowsLoopback: boolean,
  resolve: ResolveName = resolveName,
): Promise<string> {
  const url = URL.parse(text);
  if (!url) throw refused('must be an https URL');
  // Routes are appended to the text itself.
  if (url.search !== '' || url.hash !== '') throw refused('must end with its path');
  try {
    assertUrlAllowed(url, allowsLoopback);
    await assertNameAllowed(url, { allowLoopback: allowsLoopback, resolve });
  } catch (error) {
    if (error instanceof AddressRefusedError) throw refused(error.message);
    throw error;
  }
  return text.replace(/\/+$/, '');
}

function refused(reason: string): SetupError {
  return new SetupError(
    `--endpoint ${reason}. Gateways connect to it, so name the public address that leads to this ` +
      'worker. docs/home-workers.md has ways to one behind a router.',
  );
}

const PORT = 8090;

/**
 * Chooses the ports of the worker and its metrics. The worker's is the first of these: the option's,
 * that of an endpoint on this machine, the former one, 8090. Neither is ever the upstream's.
 *
 * @param former the port of an earlier set-up
 * @throws SetupError when the port that was named is the upstream's
 */
export function choosePorts(
  wanted: { port?: number; endpoint: string; upstream: string },
  former: string | undefined,
): { port: number; metricsPort: number } {
  const upstreamPort = portHere(wanted.upstream);
  const isFree = (port: number | undefined): boolean => port === undefined || port !== upstreamPort;
  const endpointPort = portHere(wanted.endpoint);
  if (!isFree(wanted.port) || !isFree(endpointPort)) {
    throw new SetupError(
      `Port ${upstreamPort} is the upstream's. Choose another by --port, and in an --endpoint on this machine.`,
    );
  }
  const port =
    wanted.port ??
    endpointPort ??
    ([Number(former ?? PORT), PORT, PORT + 2].find(isFree) as number);
  return { port, metricsPort: isFree(port + 1) ? port + 1 : port + 2 };
}

/** The port of an address on this machine; undefined for any other. */
function portHere(address: string): number | undefined {
  const url = URL.parse(address);
  if (!url || !isLoopbackHost(url.hostname)) return undefined;
  return Number(url.port) || (url.protocol === 'https:' ? 443 : 80);
}

/** @throws SetupError naming each setting that `svc worker run` would refuse */
export function requireSettingsOfRun(settings: NodeJS.ProcessEnv): void {
  try {
    loadConfig(settings);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new SetupError(`svc worker run would refuse ${error.faults.join('; ')}.`, {
      cause: error,
    });
  }
}
