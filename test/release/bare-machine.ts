import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readlinkSync,
  realpathSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, join } from 'node:path';
import { findProgram } from '../services/find-program.ts';
import { ALWAYS_THERE } from '../services/programs.ts';
import { getRegistrySettings, listNpmBinds, SYSTEM } from './image.ts';

/** A machine with only Node, npm and the POSIX programs: no server, browser, git or bubblewrap. */
export interface BareMachine {
  /** Runs a command in the clone; resolves with its exit code and output. */
  run(
    ...command: readonly string[]
  ): Promise<{ readonly code: number | null; readonly out: string }>;
  /** Runs a command until it prints a text, then ends it; resolves with the output. */
  until(text: string, ...command: readonly string[]): Promise<string>;
}

/** The path of the clone inside the machine. */
const CLONE = '/opt/parley';
const SYSTEM_FOLDERS = ['bin', 'sbin', 'lib', 'lib32', 'lib64', 'libx32'];

/**
 * A bare machine with the clone in `clone`, made with bubblewrap; its home is in `folder`. The
 * libraries and the POSIX programs are those of this machine; nothing else from `/usr` exists
 * there, whatever is installed.
 */
export function openBareMachine(clone: string, folder: string): BareMachine {
  const home = join(folder, 'home');
  mkdirSync(home, { recursive: true });
  const accounts = { passwd: 'root:x:0:0::/root:/bin/sh\n', group: 'root:x:0:\n' };
  for (const [name, text] of Object.entries(accounts)) writeFileSync(join(folder, name), text);
  const words = [
    ...['--die-with-parent', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--clearenv'],
    // Otherwise these folders are closed to other users.
    ...['/usr', '/usr/bin', '/usr/local', '/usr/local/bin'].flatMap((path) => [
      '--perms',
      '0755',
      '--dir',
      path,
    ]),
    ...listLibraries(),
    ...listPrograms(),
    ...SYSTEM.flatMap((name) => ['--ro-bind-try', join('/etc', name), join('/etc', name)]),
    ...Object.keys(accounts).flatMap((name) => ['--ro-bind', join(folder, name), `/etc/${name}`]),
    ...[
      '--proc',
      '/proc',
      '--dev',
      '/dev',
      '--tmpfs',
      '/dev/shm',
      '--perms',
      '1777',
      '--tmpfs',
      '/tmp',
    ],
    ...['--bind', home, '/root', '--bind', clone, CLONE, ...listNpmBinds(), '--chdir', CLONE],
    ...Object.entries({
      ...getRegistrySettings(),
      HOME: '/root',
      PATH: '/usr/local/bin:/usr/bin:/bin',
    }).flatMap(([name, value]) => ['--setenv', name, value ?? '']),
  ];
  const start = (command: readonly string[]): { child: ChildProcess; out: () => string } => {
    const child = spawn('bwrap', [...words, ...command], { stdio: ['ignore', 'pipe', 'pipe'] });
    let out = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        out += text;
      });
    return { child, out: () => out };
  };
  return {
    async run(...command) {
      const { child, out } = start(command);
      const [code] = await once(child, 'close');
      return { code, out: out() };
    },
    async until(text, ...command) {
      const { child, out } = start(command);
      const ended = once(child, 'close');
      for (const stream of [child.stdout, child.stderr])
        stream?.on('data', () => {
          if (out().includes(text)) child.kill('SIGKILL');
        });
      await ended;
      return out();
    },
  };
}

/** The machine's libraries, without the folder in which Debian keeps the PostgreSQL programs. */
function listLibraries(): string[] {
  const folders = SYSTEM_FOLDERS.filter((name) => existsSync(`/${name}`));
  return [
    ...folders.flatMap((name) =>
      lstatSync(`/${name}`).isSymbolicLink()
        ? ['--symlink', readlinkSync(`/${name}`), `/${name}`]
        : name.startsWith('lib')
          ? ['--ro-bind', `/${name}`, `/${name}`]
          : ['--symlink', 'usr/bin', `/${name}`],
    ),
    ...['lib', 'lib32', 'lib64', 'libx32'].flatMap((name) => [
      '--ro-bind-try',
      `/usr/${name}`,
      `/usr/${name}`,
    ]),
    ...(existsSync('/usr/lib/postgresql') ? ['--tmpfs', '/usr/lib/postgresql'] : []),
  ];
}

function listPrograms(): string[] {
  const path = (process.env.PATH ?? '')
    .split(delimiter)
    .filter((one) => !one.includes('node_modules'));
  const find = (name: string): string => {
    const found = findProgram({ names: [name], variable: '' }, { PATH: path.join(delimiter) });
    if ('reason' in found) throw new Error(`${name}: ${found.reason}`);
    return realpathSync(found.path);
  };
  return [
    ...ALWAYS_THERE.flatMap((name) => ['--ro-bind', find(name), `/usr/bin/${name}`]),
    ...['--ro-bind', find('node'), '/usr/local/bin/node'],
    ...['npm', 'npx'].flatMap((name) => [
      '--symlink',
      `../lib/node_modules/npm/bin/${name}-cli.js`,
      `/usr/local/bin/${name}`,
    ]),
  ];
}
