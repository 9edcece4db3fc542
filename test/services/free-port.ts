import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Below the ports that systems assign to outgoing connections: such a port could be taken before it
 * is used.
 */
const [LOWEST, HIGHEST] = [15_000, 32_000];
const TRIES = 100;

/** A loopback TCP port that was free when it was probed. */
export async function findFreePort(): Promise<number> {
  for (let nth = 0; nth < TRIES; nth += 1) {
    const port = randomInt(LOWEST, HIGHEST);
    if (await isFree(port)) return port;
  }
  throw new Error(`None of ${TRIES} ports was free; run the tests again.`);
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  server.listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}
