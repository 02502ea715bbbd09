import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readdir, rename, rm } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { StackError } from './config.ts';
import { readStackFile } from './stackFile.ts';

// A claim is a listening socket and not a recorded process id: the system lets go of it however its
// owner dies, and by then the id may be another process's. Each has a name that no other ever has,
// and is shown once it listens: one that does not answer is dead for good, and removing it cannot
// hit a claim that was just made.
//
// Whoever wants the folder shows his claim first and asks all others then, so that of any two at
// least one is asked. An owner refuses. Of two who are still asking the lower name wins.

const CLAIM = /^stack.*\.sock$/;
const YIELDED = 'yours';
/** An owner that is suspended, or busy for so long, still owns. */
const ANSWER_TIMEOUT_MS = 5_000;

interface Claim {
  readonly name: string;
  state: 'asking' | 'yielded' | 'owner';
}

/**
 * Makes this process the only stack of its folder until `release`.
 *
 * @param folder relative: a socket's path may have about a hundred characters
 * @throws StackError when another stack runs there
 */
export async function claimFolder(folder: string): Promise<{ release(): Promise<void> }> {
  const claim: Claim = { name: `stack-${randomBytes(8).toString('hex')}.sock`, state: 'asking' };
  const path = join(folder, claim.name);
  const server = answerFor(claim).listen(`${path}.new`);
  await once(server, 'listening');
  await rename(`${path}.new`, path);
  async function release(): Promise<void> {
    await rm(path, { force: true });
    server.close();
    await once(server, 'close');
  }
  const others = (await readdir(folder)).filter((name) => CLAIM.test(name) && name !== claim.name);
  const yielded = await Promise.all(others.map((other) => yields(join(folder, other), claim)));
  if (claim.state === 'yielded' || yielded.includes(false)) {
    await release();
    throw new StackError(describeTaken(folder));
  }
  claim.state = 'owner';
  return { release };
}

/** Tells each who asks whether he may have the folder. */
function answerFor(claim: Claim): Server {
  return createServer({ allowHalfOpen: true }, async (socket) => {
    socket.setTimeout(ANSWER_TIMEOUT_MS, () => socket.destroy());
    // Whoever asks may be gone before the answer.
    socket.on('error', () => undefined);
    const rival = await text(socket).catch(() => '');
    if (claim.state === 'asking' && CLAIM.test(rival) && rival < claim.name)
      claim.state = 'yielded';
    socket.end(claim.state === 'yielded' ? YIELDED : '');
  });
}

/** Whether another claim makes way for this one. A dead one does, and is removed. */
async function yields(other: string, { name }: Claim): Promise<boolean> {
  const socket = connect(other);
  try {
    await once(socket, 'connect');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code !== 'ENOENT' && code !== 'ECONNREFUSED') throw error;
    await rm(other, { force: true });
    return true;
  }
  socket.setTimeout(ANSWER_TIMEOUT_MS, () => socket.destroy());
  socket.end(name);
  return (await text(socket).catch(() => '')) === YIELDED;
}

function describeTaken(folder: string): string {
  const running = readStackFile(folder);
  const where = running ? ` (process ${running.pid}, ${running.baseUrl})` : '';
  return `A stack already runs in this folder${where}. Stop it first.`;
}
