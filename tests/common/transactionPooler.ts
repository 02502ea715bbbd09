import { createServer, type Socket } from 'node:net';
import pg from 'pg';
import { type DatabaseFront, standBefore } from './databaseFront.ts';

/** A client's last message begins with it. */
const END = 'X'.charCodeAt(0);
/** The server's message that no transaction is open. */
const IDLE = Buffer.from('5a0000000549', 'hex');
/** The server's message that no password is needed. */
const ACCEPTED = Buffer.from('520000000800000000', 'hex');

/**
 * A pooler in transaction mode: each transaction of any client runs on a server connection that is
 * free, and leaves it afterwards. Clients need no password.
 *
 * @param servers how many connections to the database it has
 * @param takes which of the free ones comes next
 */
export async function startTransactionPooler(
  databaseUrl: string,
  { servers, takes }: { servers: number; takes: 'last' | 'first' },
): Promise<DatabaseFront> {
  const streams = await Promise.all(
    Array.from({ length: servers }, async () => {
      const client = new pg.Client({ connectionString: databaseUrl });
      client.on('error', () => undefined);
      await client.connect();
      const { stream } = client.connection as unknown as { stream: Socket };
      return stream.removeAllListeners('data');
    }),
  );
  const free = [...streams];
  const waiting: ((stream: Socket) => void)[] = [];
  const sockets = new Set<Socket>();

  async function take(): Promise<Socket> {
    const stream = takes === 'last' ? free.pop() : free.shift();
    return stream ?? new Promise((resolve) => waiting.push(resolve));
  }

  function giveBack(stream: Socket): void {
    const next = waiting.shift();
    if (next) next(stream);
    else free.push(stream);
  }

  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    let lent: Promise<Socket> | undefined;

    async function lend(): Promise<Socket> {
      const stream = await take();
      let last = Buffer.alloc(0);
      stream.on('data', (piece: Buffer) => {
        socket.write(piece);
        last = Buffer.concat([last, piece]).subarray(-IDLE.length);
        if (!last.equals(IDLE)) return;
        stream.removeAllListeners('data');
        lent = undefined;
        giveBack(stream);
      });
      return stream;
    }

    // What comes first is the client's name and what it wants.
    socket.once('data', () => {
      socket.write(Buffer.concat([ACCEPTED, IDLE]));
      socket.on('data', (piece: Buffer) => {
        if (piece[0] === END) return void socket.end();
        lent ??= lend();
        void lent.then((stream) => stream.write(piece));
      });
    });
  });
  const front = await standBefore(databaseUrl, server, sockets);
  return {
    ...front,
    async close() {
      for (const stream of streams) stream.destroy();
      await front.close();
    },
  };
}
