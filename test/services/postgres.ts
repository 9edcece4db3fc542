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
import { freePort } from './free-port.ts';
import { startGuarded } from './guarded-process.ts';
import type { ServiceStart } from './provided.ts';
import { sharedTemporaryFolder, type UnixUser, unprivilegedUser } from './unprivileged-user.ts';

/**
 * A private PostgreSQL on a free port, without fsync, or the server named by
 * `PARLEY_TEST_POSTGRES_URL`. `PARLEY_TEST_INITDB` names the initdb beside the server to start.
 * Root runs it as the user `postgres` or `nobody`, since PostgreSQL refuses to run as root.
 */
export async function startPostgres(): Promise<ServiceStart> {
  const url = process.env.PARLEY_TEST_POSTGRES_URL;
  if (url) return { state: 'ready', value: url, stop: async () => undefined };
  const found = findProgram({
    names: ['initdb'],
    folders: [...debianFolders(), ...HOMEBREW_FOLDERS],
    variable: 'PARLEY_TEST_INITDB',
  });
  if ('reason' in found) return { state: 'missing', reason: found.reason };
  try {
    return await startPrivate(found.path);
  } catch (error) {
    return { state: 'missing', reason: `${found.path} led to no server: ${String(error)}` };
  }
}

/** Homebrew does not put a versioned PostgreSQL on the PATH. */
const HOMEBREW_FOLDERS = ['/opt/homebrew', '/usr/local'].map((p) => `${p}/opt/postgresql@17/bin`);

/** Debian keeps the server programs off the PATH, one folder per version; the newest goes first. */
function debianFolders(): string[] {
  const parent = '/usr/lib/postgresql';
  if (!existsSync(parent)) return [];
  const versions = readdirSync(parent).sort((a, b) => Number(b) - Number(a));
  return versions.map((version) => join(parent, version, 'bin'));
}

async function startPrivate(initdb: string): Promise<ServiceStart> {
  const user = unprivilegedUser(['postgres', 'nobody']);
  const folder = mkdtempSync(join(sharedTemporaryFolder(), 'parley-postgres-'));
  if (user !== undefined) chownSync(folder, user.uid, user.gid);
  try {
    const password = randomBytes(16).toString('hex');
    const data = await createCluster(initdb, { folder, password, user });
    const port = await freePort();
    const stop = await startGuarded({
      command: [
        join(dirname(initdb), 'postgres'),
        '-D',
        data,
        '-p',
        String(port),
        ...SERVER_OPTIONS,
      ],
      folder,
      // SIGQUIT is PostgreSQL's immediate shutdown: the data is thrown away in any case.
      stopSignal: 'QUIT',
      user,
      isReady: () => saysReady(data),
    });
    return {
      state: 'ready',
      value: `postgres://parley:${password}@127.0.0.1:${port}/postgres`,
      stop,
    };
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

const SERVER_OPTIONS = [
  ['listen_addresses', '127.0.0.1'],
  ['unix_socket_directories', ''],
  ['fsync', 'off'],
  ['full_page_writes', 'off'],
  ['max_connections', '200'],
  ['shared_buffers', '32MB'],
].flatMap(([name, value]) => ['-c', `${name}=${value}`]);

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

/** The eighth line of `postmaster.pid` says `ready` when connections are taken; pg_ctl reads it too. */
function saysReady(data: string): boolean {
  try {
    return readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[7]?.trim() === 'ready';
  } catch {
    return false;
  }
}
