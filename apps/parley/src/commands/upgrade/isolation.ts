import { realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Release } from './unpack-release.ts';

/** The system's files that Node reads: libraries, time zones, certificates, processor counts. */
const SYSTEM_FILES = ['/etc', '/usr', '/lib', '/lib64', '/proc', '/sys', '/System', '/Library'];

/**
 * Runs before the release in each of its threads. Node's permission model limits files and
 * programs; this limits SQLite in the same way, and connections to the machine itself. A file that may not be read counts as
 * missing, as it would on another machine. Two calls on open files are refused under the permission
 * model altogether, although their files may be written, so they do nothing.
 */
const GUARD = `
import dgram from 'node:dgram';
import dns from 'node:dns';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';
import sqlite from 'node:sqlite';
const isLocal = (host) => host === undefined || /^(127\\.|localhost$|::1$|::ffff:127\\.)/.test(host);
const refusal = (what) => Object.assign(new Error('a rehearsal does not connect to ' + what), { code: 'ECONNREFUSED' });
const connect = net.Socket.prototype.connect;
net.Socket.prototype.connect = function (...args) {
  const first = Array.isArray(args[0]) ? args[0][0] : args[0];
  const to = typeof first === 'object' && first !== null ? first : { host: typeof args[1] === 'string' ? args[1] : undefined };
  if (!to.path && isLocal(to.host ?? undefined)) return connect.apply(this, args);
  process.nextTick(() => this.destroy(refusal(to.path || to.host)));
  return this;
};
dgram.createSocket = () => { throw refusal('other machines'); };
for (const names of [dns, dns.promises])
  for (const name of Object.keys(names)) {
    if (!/^(resolve|reverse)/.test(name) || typeof names[name] !== 'function') continue;
    names[name] = (...args) => {
      const last = args.at(-1);
      if (names === dns.promises) return Promise.reject(refusal('a name server'));
      if (typeof last === 'function') process.nextTick(last, refusal('a name server'));
    };
  }
const soften = (error) => {
  if (error?.code === 'ERR_ACCESS_DENIED') error.code = error.permission === 'FileSystemRead' ? 'ENOENT' : 'EACCES';
  return error;
};
const wrap = (call, answer) => Object.assign(function (...args) {
  try { return answer(call.apply(this, args)); }
  catch (error) {
    const { code } = soften(error);
    if (code === 'ENOENT' && call === exists) return false;
    if (code === 'ENOENT' && args[1]?.throwIfNoEntry === false) return undefined;
    throw error;
  }
}, call);
const exists = fs.existsSync;
const later = (result) => typeof result?.catch === 'function' ? result.catch((error) => { throw soften(error); }) : result;
for (const [name, call] of Object.entries(fs))
  if (name.endsWith('Sync')) fs[name] = wrap(call, (result) => result);
for (const [name, call] of Object.entries(fs.promises))
  if (typeof call === 'function') fs.promises[name] = wrap(call, later);
const allow = (path, how) => {
  const text = path instanceof URL ? decodeURIComponent(path.pathname) : String(path);
  if (text !== ':memory:' && !process.permission.has(how, text)) throw Object.assign(new Error('a rehearsal does not open ' + text), { code: 'EACCES' });
};
const allowQuery = (text) => { if (/^\\s*(attach|vacuum\\s+into)\\b/i.test(text)) throw new Error('a rehearsal does not attach databases'); };
sqlite.DatabaseSync = class DatabaseSync extends sqlite.DatabaseSync {
  constructor(...given) { allow(given[0], 'fs.read'); if (given[1]?.readOnly !== true) allow(given[0], 'fs.write'); super(...given); }
  exec(text) { allowQuery(text); return super.exec(text); }
  prepare(text, ...rest) { allowQuery(text); return super.prepare(text, ...rest); }
};
const { backup } = sqlite;
sqlite.backup = (source, path, ...rest) => { allow(path, 'fs.write'); return backup(source, path, ...rest); };
const nothing = (...args) => { const last = args.at(-1); if (typeof last === 'function') process.nextTick(last, null); };
Object.assign(fs, { fchmod: nothing, fchmodSync() {}, fdatasync: nothing, fdatasyncSync() {} });
const file = await fs.promises.open(process.env.PARLEY_REHEARSAL_FILE);
Object.assign(Object.getPrototypeOf(file), { async chmod() {}, async datasync() {} });
await file.close();
syncBuiltinESMExports();
`;

/**
 * The program and its environment for a release that runs in a rehearsal. Whatever the release does
 * by mistake, it reads only its own files and the copy, writes only into the copy, starts no
 * programs, connects only to this machine, and sees neither variables nor secrets of the
 * installation.
 */
export function isolateRelease({ root }: Release, copy: string, words: readonly string[]) {
  const readable = [
    ...[root, copy, dirname(realpathSync(process.execPath)), ...SYSTEM_FILES],
    ...findLibraries(root),
  ];
  const args = [
    '--max-semi-space-size=8',
    '--permission',
    '--allow-worker',
    '--no-warnings',
    ...readable.map((path) => `--allow-fs-read=${path}`),
    `--allow-fs-write=${copy}`,
    `--import=data:text/javascript,${encodeURIComponent(GUARD)}`,
    join(root, 'apps/parley/bin/parley.js'),
    ...['--data', copy, ...words],
  ];
  const { PATH, TZ, LANG, NODE_EXTRA_CA_CERTS: _, ...others } = process.env;
  const env: NodeJS.ProcessEnv = {
    ...(PATH !== undefined && { PATH }),
    ...(TZ !== undefined && { TZ }),
    ...(LANG !== undefined && { LANG }),
    // Windows programs do not start without it.
    ...(others.SystemRoot !== undefined && { SystemRoot: others.SystemRoot }),
    HOME: copy,
    TMPDIR: copy,
    MALLOC_ARENA_MAX: '2',
    PARLEY_REHEARSAL_FILE: join(copy, 'parley.yaml'),
  };
  return { program: process.execPath, args, env };
}

/** The libraries may be a link into another installation. */
function findLibraries(root: string): readonly string[] {
  try {
    return [realpathSync(join(root, 'node_modules'))];
  } catch {
    return [];
  }
}
