import { type ChildProcessByStdio, execFile, execFileSync, spawn } from 'node:child_process';
import {
  chownSync,
  cpSync,
  existsSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import type { DockerInstruction } from './dockerfile.ts';

/** Long enough for `npm ci` on a slow network, in ms. */
const STEP_MS = 300_000;
/** The user `node` of Node's own image. */
export const NODE_USER = { uid: 1000, gid: 1000 };
/** Only root can switch to another user; otherwise everything runs as the current user. */
export const IS_ROOT = process.getuid?.() === 0;

/** What a container starts with, and its root folder. */
export interface ContainerImage {
  readonly root: string;
  readonly env: Readonly<Record<string, string>>;
  readonly folder: string;
  readonly user: string;
  readonly entry: readonly string[];
  readonly arguments: readonly string[];
  readonly health: readonly string[];
}

type ImageDraft = { -readonly [Key in keyof ContainerImage]: ContainerImage[Key] };

interface BuildOptions {
  readonly context: string;
  readonly folder: string;
  /** Existing root folders of stages, by name; their instructions are skipped. */
  readonly prepared?: ReadonlyMap<string, string>;
}

/**
 * Runs a Dockerfile in a root folder per stage, under `folder`. The system below `/usr` is this
 * machine's, with Node 24 replacing its own: it stands for Node's slim image. Throws with the
 * output of an instruction that fails.
 */
export async function buildImage(
  lines: readonly DockerInstruction[],
  { context, folder, prepared = new Map() }: BuildOptions,
): Promise<ContainerImage> {
  const stages = new Map<string, string>();
  let image = createEmptyImage('');
  let isPrepared = false;
  for (const line of lines) {
    if (line.kind === 'stage') {
      const root = prepared.get(line.name);
      isPrepared = root !== undefined;
      image = createEmptyImage(root ?? join(folder, `stage-${stages.size}`));
      if (!isPrepared) makeRoot(image.root);
      stages.set(line.name, image.root);
    } else if (!isPrepared) {
      await applyInstruction(line, image, (name) =>
        name === null ? context : (stages.get(name) ?? ''),
      );
    }
  }
  return image;
}

function createEmptyImage(root: string): ImageDraft {
  const env = { PATH: '/usr/local/bin:/usr/bin:/bin' };
  return { root, env, folder: '/', user: 'root', entry: [], arguments: [], health: [] };
}

async function applyInstruction(
  line: Exclude<DockerInstruction, { kind: 'stage' }>,
  image: ImageDraft,
  rootOf: (stage: string | null) => string,
): Promise<void> {
  switch (line.kind) {
    case 'folder':
      image.folder = line.value;
      mkdirSync(join(image.root, line.value), { recursive: true });
      return;
    case 'user':
      image.user = line.value;
      return;
    case 'set':
      image.env = { ...image.env, [line.name]: line.value };
      return;
    case 'copy':
      copyInto(image, line, rootOf(line.from));
      return;
    case 'run':
      return runStep(image, line.value);
    case 'entry':
    case 'arguments':
    case 'health':
      image[line.kind] = line.command;
      return;
    case 'none':
      return;
  }
}

function copyInto(
  image: ContainerImage,
  { sources, to, owner }: Extract<DockerInstruction, { kind: 'copy' }>,
  from: string,
): void {
  const target = join(image.root, resolve(image.folder, to));
  for (const source of sources) {
    const path = join(from, source);
    // The content of a folder is copied; a file is copied into a folder.
    const into = to.endsWith('/') && !isFolder(path) ? join(target, basename(path)) : target;
    mkdirSync(dirname(into), { recursive: true });
    cpSync(path, into, { recursive: true, verbatimSymlinks: true });
    if (owner !== null && IS_ROOT) changeOwner(into);
  }
}

const isFolder = (path: string): boolean => lstatSync(path).isDirectory();

function changeOwner(path: string): void {
  chownSync(path, NODE_USER.uid, NODE_USER.gid);
  if (!isFolder(path)) return;
  for (const name of readdirSync(path, { recursive: true })) {
    lchownSync(join(path, String(name)), NODE_USER.uid, NODE_USER.gid);
  }
}

async function runStep(image: ContainerImage, command: string): Promise<void> {
  const words = [
    ...createSandboxOptions(image, 'build'),
    ...createUserPrefix(image),
    '/bin/sh',
    '-euc',
    command,
  ];
  try {
    await promisify(execFile)('bwrap', words, { timeout: STEP_MS, maxBuffer: 16_000_000 });
  } catch (error) {
    throw new Error(`The image's line RUN ${command} failed.`, { cause: error });
  }
}

/** What a container sees of this machine, as pairs of inside and outside paths. */
export interface ContainerMounts {
  readonly volumes: Readonly<Record<string, string>>;
  readonly readable: Readonly<Record<string, string>>;
}

/** Starts a container of the image: its root is read-only, except for `/tmp` and the volumes. */
export function startContainer(
  image: ContainerImage,
  command: readonly string[],
  { volumes, readable }: ContainerMounts,
): ChildProcessByStdio<null, Readable, Readable> {
  const mounts = [
    ...Object.entries(volumes).flatMap(([inside, outside]) => ['--bind', outside, inside]),
    ...Object.entries(readable).flatMap(([inside, outside]) => ['--ro-bind', outside, inside]),
  ];
  const words = [
    ...createSandboxOptions(image, 'container'),
    ...mounts,
    ...createUserPrefix(image),
    ...command,
  ];
  return spawn('bwrap', words, { stdio: ['ignore', 'pipe', 'pipe'] });
}

/** System files of this machine: name resolution, certificates, and the dynamic linker. */
export const SYSTEM = [
  'ssl',
  'ca-certificates',
  'resolv.conf',
  'hosts',
  'nsswitch.conf',
  'ld.so.cache',
];

function makeRoot(root: string): void {
  for (const path of [
    'usr/local/bin',
    'usr/local/lib/node_modules/npm',
    'etc',
    'proc',
    'dev',
    'tmp',
    'root/.npm',
  ]) {
    mkdirSync(join(root, path), { recursive: true });
  }
  for (const name of ['bin', 'sbin', 'lib', 'lib64']) {
    if (existsSync(`/${name}`)) symlinkSync(`usr/${name}`, join(root, name));
  }
  for (const name of SYSTEM) {
    if (existsSync(join('/etc', name)))
      cpSync(join('/etc', name), join(root, 'etc', name), { recursive: true });
  }
  const { uid, gid } = NODE_USER;
  writeFileSync(
    join(root, 'etc/passwd'),
    `root:x:0:0::/root:/bin/sh\nnode:x:${uid}:${gid}::/home/node:/bin/sh\n`,
  );
  writeFileSync(join(root, 'etc/group'), `root:x:0:\nnode:x:${gid}:\n`);
  writeFileSync(join(root, 'usr/local/bin/node'), '');
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(root, 'usr/local/bin/npm'));
}

/**
 * The bubblewrap options for a process of the image. A container has its own network with only
 * loopback; build steps share this machine's network, for npm.
 */
function createSandboxOptions(
  { root, env, folder, user }: ContainerImage,
  use: 'build' | 'container',
): string[] {
  const isBuild = use === 'build';
  const bind = isBuild ? '--bind' : '--ro-bind';
  const home = user === 'root' ? '/root' : `/home/${user}`;
  const variables = { ...(isBuild && getRegistrySettings()), HOME: home, ...env };
  return [
    ...['--die-with-parent', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--clearenv'],
    ...(IS_ROOT ? [] : ['--unshare-user', '--uid', '0', '--gid', '0']),
    ...[bind, root, '/', '--ro-bind', '/usr', '/usr', bind, join(root, 'usr/local'), '/usr/local'],
    ...['--ro-bind', process.execPath, '/usr/local/bin/node'],
    ...(isBuild ? listNpmBinds() : ['--unshare-net']),
    ...[
      '--proc',
      '/proc',
      '--dev',
      '/dev',
      '--perms',
      '1777',
      '--tmpfs',
      '/tmp',
      '--chdir',
      folder,
    ],
    ...Object.entries(variables).flatMap(([name, value]) => ['--setenv', name, value ?? '']),
  ];
}

/** How this machine reaches a registry. */
export function getRegistrySettings(): Record<string, string | undefined> {
  const names =
    /^(https?_proxy|no_proxy|node_extra_ca_certs|ssl_cert_(file|dir)|npm_config_registry)$/i;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => names.test(name)));
}

/** This machine's npm with its settings and its cache. */
export function listNpmBinds(): string[] {
  const npm = execFileSync('npm', ['root', '--global'], { encoding: 'utf8' }).trim();
  return [
    ...['--ro-bind', join(npm, 'npm'), '/usr/local/lib/node_modules/npm'],
    ...['--ro-bind-try', join(homedir(), '.npmrc'), '/root/.npmrc'],
    ...['--bind-try', join(homedir(), '.npm'), '/root/.npm'],
  ];
}

/** The command prefix that switches to the image's user, where that is possible. */
function createUserPrefix({ user }: ContainerImage): string[] {
  if (user === 'root' || !IS_ROOT) return [];
  const { uid, gid } = NODE_USER;
  return ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', '--no-new-privs'];
}
