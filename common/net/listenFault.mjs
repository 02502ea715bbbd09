// Plain JavaScript for any Node since 18: `npm start` asks for its port before it installs anything.
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * What hinders a server from listening there now, in sentences; undefined where nothing does.
 *
 * @param {string} host
 * @param {number} port
 * @returns {Promise<{ isTaken: boolean, message: string } | undefined>}
 */
export async function findListenFault(host, port) {
  const server = createServer();
  try {
    server.listen(port, host);
    await once(server, 'listening');
  } catch ({ code, message }) {
    if (code === 'EADDRINUSE') {
      const advice = 'Choose another: PORT=8180 npm start';
      return { isTaken: true, message: `Port ${port} on ${host} is taken. ${advice}` };
    }
    const setting = ['EACCES', 'ERR_SOCKET_BAD_PORT'].includes(code) ? 'PORT' : 'HOST';
    const fault = `${setting}: cannot be listened on: ${message}. Choose another.`;
    return { isTaken: false, message: fault };
  }
  server.close();
  await once(server, 'close');
  return undefined;
}
