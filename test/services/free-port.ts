import { once } from 'node:events';
import { createServer } from 'node:net';

/** A loopback TCP port that nothing listens on at the moment of asking. */
export async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') {
    throw new Error('The operating system gave no port number; run the tests again.');
  }
  return address.port;
}
