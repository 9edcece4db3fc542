import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chownSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { findProgram } from './find-program.ts';
import { findFreePort } from './free-port.ts';
import { startGuarded } from './guarded-process.ts';
import { PROGRAMS } from './programs.ts';
import type { ServiceStart } from './provided.ts';
import {
  findSharedTemporaryFolder,
  findUnprivilegedUser,
  type UnixUser,
} from './unprivileged-user.ts';

/**
 * A private PostgreSQL on a free port, without fsync, or the server named by
 * `PARLEY_TEST_POSTGRES_URL`. `PARLEY_TEST_INITDB` names the initdb beside the server to start. If
 * the tests run as root, the server runs as the user `postgres` or `nobody`, because PostgreSQL
 * refuses to run as root. `settings` override the default settings, which make the server fast.
 */
export async function startPostgres(
  settings: Readonly<Record<string, string>> = {},
): Promise<ServiceStart> {
  const url = process.env.PARLEY_TEST_POSTGRES_URL;
  if (url) return { state: 'ready', value: url, stop: async () => undefined };
  const found = findInitdb();
  if ('reason' in found) return { state: 'missing', ...found };
  try {
    return await startPrivateServer(found.path, settings);
  } catch (error) {
    return { state: 'missing', reason: `${found.path} led to no server: ${String(error)}` };
  }
}

/** Finds initdb; the server is in the same folder. */
function findInitdb(): ReturnType<typeof findProgram> {
  const { folders, ...search } = PROGRAMS.postgres;
  return findProgram({ ...search, folders: [...listDebianFolders(), ...folders] });
}

/**
 * Debian keeps the server programs off the PATH, in one folder per version; the newest goes first.
 */
function listDebianFolders(): string[] {
  const parent = '/usr/lib/postgresql';
  if (!existsSync(parent)) return [];
  const versions = readdirSync(parent).sort((a, b) => Number(b) - Number(a));
  return versions.map((version) => join(parent, version, 'bin'));
}

async function startPrivateServer(
  initdb: string,
  settings: Readonly<Record<string, string>>,
): Promise<ServiceStart> {
  const { url, data, ...plan } = await prepareServer(initdb, settings);
  try {
    const stop = await startGuarded({
      ...plan,
      // SIGQUIT is PostgreSQL's immediate shutdown: the data is discarded in any case.
      stopSignal: 'QUIT',
      isReady: () => isPostmasterReady(data),
    });
    return { state: 'ready', value: url, stop };
  } catch (error) {
    rmSync(plan.folder, { recursive: true, force: true });
    throw error;
  }
}

/** How to start a server whose storage has been created; `folder` is dedicated to it. */
export interface PostgresPlan {
  readonly url: string;
  readonly command: readonly string[];
  readonly folder: string;
  readonly user: UnixUser | undefined;
}

/**
 * Creates the storage of a private server, for a test that starts and stops it itself. Throws when
 * PostgreSQL is not available.
 */
export async function preparePostgres(): Promise<PostgresPlan> {
  const found = findInitdb();
  if ('reason' in found) throw new Error(found.reason);
  const { data: _, ...plan } = await prepareServer(found.path, {});
  return plan;
}

async function prepareServer(
  initdb: string,
  settings: Readonly<Record<string, string>>,
): Promise<PostgresPlan & { readonly data: string }> {
  const user = findUnprivilegedUser(['postgres', 'nobody']);
  const folder = mkdtempSync(join(findSharedTemporaryFolder(), 'parley-postgres-'));
  if (user !== undefined) chownSync(folder, user.uid, user.gid);
  try {
    const password = randomBytes(16).toString('hex');
    const data = await createCluster(initdb, { folder, password, user });
    const port = await findFreePort();
    const options = createServerOptions({ ...QUICK_SETTINGS, ...settings });
    const program = join(dirname(initdb), 'postgres');
    const command = [program, '-D', data, '-p', String(port), ...options];
    const url = `postgres://parley:${password}@127.0.0.1:${port}/postgres`;
    return { url, command, folder, user, data };
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

/** Disables what tests do not need. */
const QUICK_SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  fsync: 'off',
  full_page_writes: 'off',
  max_connections: '200',
  // The server's storage may be in memory.
  min_wal_size: '32MB',
  max_wal_size: '128MB',
  shared_buffers: '32MB',
};

function createServerOptions(settings: Readonly<Record<string, string>>): string[] {
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

async function createCluster(
  initdb: string,
  cluster: { folder: string; password: string; user: UnixUser | undefined },
): Promise<string> {
  const data = join(cluster.folder, 'data');
  const passwordFile = join(cluster.folder, 'password');
  writeFileSync(passwordFile, cluster.password, { mode: 0o600 });
  if (cluster.user !== undefined) chownSync(passwordFile, cluster.user.uid, cluster.user.gid);
  await promisify(execFile)(
    initdb,
    [
      '-D',
      data,
      '-U',
      'parley',
      '--pwfile',
      passwordFile,
      '--auth=scram-sha-256',
      '--no-sync',
      '--locale=C',
      '--encoding=UTF8',
    ],
    { cwd: cluster.folder, ...(cluster.user ?? {}) },
  );
  return data;
}

/**
 * The eighth line of `postmaster.pid` says `ready` when connections are accepted; pg_ctl reads it
 * too.
 */
function isPostmasterReady(data: string): boolean {
  try {
    return readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[7]?.trim() === 'ready';
  } catch {
    return false;
  }
}
