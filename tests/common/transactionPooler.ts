import { createServer, type Socket } from 'node:net';
import pg from 'pg';
import { type DatabaseFront, standBefore } from './databaseFront.ts';

/** The letters of the messages that matter here, and what the server says when it is idle. */
const READY = 'Z';
const END = 'X';
const IDLE = 'I';

/** Takes whole messages out of what arrives: a letter, a length that counts itself, contents. */
function createSplitter(hasLetter: boolean) {
  let rest = Buffer.alloc(0);
  const head = hasLetter ? 1 : 0;
  return (piece: Buffer): Buffer[] => {
    rest = Buffer.concat([rest, piece]);
    const messages: Buffer[] = [];
    while (rest.length >= head + 4 && rest.length >= head + rest.readInt32BE(head)) {
      const length = head + rest.readInt32BE(head);
      messages.push(rest.subarray(0, length));
      rest = rest.subarray(length);
    }
    return messages;
  };
}

function message(letter: string, content: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(content.length + 4);
  return Buffer.concat([Buffer.from(letter), length, content]);
}

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
  const clients = await Promise.all(
    Array.from({ length: servers }, async () => {
      const client = new pg.Client({ connectionString: databaseUrl });
      client.on('error', () => undefined);
      await client.connect();
      const { stream } = client.connection as unknown as { stream: Socket };
      stream.removeAllListeners('data');
      return { stream };
    }),
  );
  const free = clients.map(({ stream }) => stream);
  const waiting: ((stream: Socket) => void)[] = [];
  const take = async (): Promise<Socket> => {
    const stream = takes === 'last' ? free.pop() : free.shift();
    return stream ?? new Promise((resolve) => waiting.push(resolve));
  };
  const giveBack = (stream: Socket) => {
    const next = waiting.shift();
    if (next) next(stream);
    else free.push(stream);
  };
  const sockets = new Set<Socket>();

  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    const readStart = createSplitter(false);
    let lent: Promise<Socket> | undefined;

    function lend(): Promise<Socket> {
      return take().then((stream) => {
        const split = createSplitter(true);
        stream.on('data', (piece: Buffer) => {
          for (const part of split(piece)) {
            socket.write(part);
            const isOver =
              String.fromCharCode(part[0] ?? 0) === READY && part[5] === IDLE.charCodeAt(0);
            if (!isOver) continue;
            stream.removeAllListeners('data');
            lent = undefined;
            giveBack(stream);
          }
        });
        return stream;
      });
    }

    socket.once('data', (piece: Buffer) => {
      readStart(piece);
      const accepted = message('R', Buffer.alloc(4));
      socket.write(Buffer.concat([accepted, message(READY, Buffer.from(IDLE))]));
      const split = createSplitter(true);
      socket.on('data', (sent: Buffer) => {
        for (const part of split(sent)) {
          if (String.fromCharCode(part[0] ?? 0) === END) return void socket.end();
          lent ??= lend();
          void lent.then((stream) => stream.write(part));
        }
      });
    });
  });
  const front = await standBefore(databaseUrl, server, sockets);
  return {
    ...front,
    async close() {
      for (const { stream } of clients) stream.destroy();
      await front.close();
    },
  };
}
