import { chownSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { findFreePort } from './free-port.ts';
import { startGuarded } from './guarded-process.ts';
import { findSharedTemporaryFolder, findUnprivilegedUser } from './unprivileged-user.ts';

/**
 * A PgBouncer with default settings except for transaction pooling, in front of the server of
 * `url`.
 */
export async function startPgBouncer(
  program: string,
  url: string,
): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const server = new URL(url);
  const port = await findFreePort();
  const folder = mkdtempSync(join(findSharedTemporaryFolder(), 'parley-pgbouncer-'));
  const user = findUnprivilegedUser(['postgres', 'nobody']);
  const file = join(folder, 'pgbouncer.ini');
  const settings = [
    '[databases]',
    `* = host=${server.hostname} port=${server.port} user=${server.username} password=${server.password}`,
    '[pgbouncer]',
    'pool_mode = transaction',
    // Fewer connections than a single process of Parley opens, so that each connection is shared.
    'default_pool_size = 4',
    'max_client_conn = 500',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = any',
  ];
  writeFileSync(file, settings.join('\n'));
  if (user !== undefined) for (const path of [folder, file]) chownSync(path, user.uid, user.gid);
  const pooled = Object.assign(new URL(url), { hostname: '127.0.0.1', port: `${port}` }).href;
  const stop = await startGuarded({
    command: [program, file],
    folder,
    stopSignal: 'QUIT',
    user,
    isReady: () => acceptsQueries(pooled),
  });
  return { url: pooled, stop };
}

async function acceptsQueries(url: string): Promise<boolean> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}
