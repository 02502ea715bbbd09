import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { findFreePort } from '../../stack/port.ts';

/** A proxy between a process and the database that can cut all connections. */
export interface DatabaseGate {
  databaseUrl: string;
  /** Cuts all connections and refuses new ones. */
  shut(): Promise<void>;
  open(): Promise<void>;
  /** Forwards nothing until `thaw`, but keeps all connections open. */
  freeze(): void;
  thaw(): void;
  /** Stops forwarding for the existing connections; new ones work. */
  stallConnections(): void;
  /** Cuts each connection that sends this text; undefined: none. */
  cutOn(words: string | undefined): void;
  close(): Promise<void>;
}

/** @param onSent called with all that is sent to the database */
export async function startDatabaseGate(
  databaseUrl: string,
  onSent: (sent: Buffer) => void = () => {},
): Promise<DatabaseGate> {
  const { hostname, port } = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  /** The process's socket of each connection, with the database's. */
  const pairs = new Map<Socket, Socket>();
  let isFrozen = false;
  let barred: string | undefined;
  const server = createServer((socket) => {
    const database = connect(Number(port), hostname);
    pairs.set(socket, database);
    socket.on('close', () => pairs.delete(socket));
    socket.on('data', (sent) => {
      onSent(sent);
      if (barred !== undefined && sent.includes(barred)) socket.destroy();
    });
    for (const [one, other] of [
      [socket, database],
      [database, socket],
    ] as const) {
      sockets.add(one);
      one.pipe(other);
      if (isFrozen) one.pause();
      // When one side closes, the other is closed, too.
      one.on('error', () => other.destroy());
      one.on('close', () => {
        sockets.delete(one);
        other.destroy();
      });
    }
  });
  const listen = async (at: number) => {
    server.listen(at, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  };
  const shut = async () => {
    if (!server.listening) return;
    server.close();
    for (const socket of sockets) socket.destroy();
    await once(server, 'close');
  };
  // No other process gets this port while the gate is shut.
  const gatePort = await listen(await findFreePort());
  const gateUrl = new URL(databaseUrl);
  gateUrl.host = `127.0.0.1:${gatePort}`;
  return {
    databaseUrl: gateUrl.href,
    shut,
    async open() {
      if (!server.listening) await listen(gatePort);
    },
    freeze() {
      isFrozen = true;
      for (const socket of sockets) socket.pause();
    },
    thaw() {
      isFrozen = false;
      for (const socket of sockets) socket.resume();
    },
    stallConnections() {
      for (const [socket, database] of pairs) {
        database.removeAllListeners('close');
        database.destroy();
        socket.unpipe();
        socket.pause();
      }
      pairs.clear();
    },
    cutOn(words) {
      barred = words;
    },
    close: shut,
  };
}
