import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type FreshDatabase, freshDatabase } from '../services/fresh-database.ts';

const PROGRAM = resolve(import.meta.dirname, '../../apps/parley/bin/parley.js');
const START_WITHIN_MS = 90_000;

/** One process of a deployment. */
export interface Member {
  readonly role: 'gateway' | 'worker' | 'start';
  readonly pid: number;
  readonly address: string;
  /** All it has written so far. */
  words(): string;
  signal(signal: NodeJS.Signals): void;
  /** Sends the signal and waits for the end. */
  end(
    signal?: NodeJS.Signals,
  ): Promise<{ readonly code: number | NodeJS.Signals; readonly ms: number }>;
}

/** In what a process differs from the others. */
export interface Otherwise {
  readonly settings?: object;
  readonly env?: Readonly<Record<string, string>>;
}

/** Gateways and workers on a database, a Redis and a workspace of their own. */
export interface Deployment {
  readonly token: string;
  /** The database that all use. */
  readonly storeUrl: string;
  /** At a free port where none is given. */
  start(role: Member['role'], port?: number, how?: Otherwise): Promise<Member>;
  /** Those that were started and have not ended. */
  members(): readonly Member[];
  get(member: Member, path: string): Promise<{ readonly status: number; readonly body: string }>;
  /** Runs a command on a data folder without a gateway; returns what it prints. */
  command(...args: string[]): Promise<{ readonly code: number; readonly out: string }>;
  close(): Promise<void>;
}

/** Where the services are. */
export interface Services {
  readonly redisUrl: string;
  readonly postgresUrl: string;
}

/** Opens a deployment with these settings; nothing runs yet. */
export async function openDeployment(services: Services, settings: object): Promise<Deployment> {
  const database: FreshDatabase = await freshDatabase(services.postgresUrl);
  const folder = mkdtempSync(join(tmpdir(), 'parley-distributed-'));
  const token = randomBytes(24).toString('hex');
  const shared = {
    http: { token },
    agent: { workspace: join(folder, 'workspace') },
    queue: { url: services.redisUrl, prefix: `test-${randomBytes(8).toString('hex')}` },
    ...settings,
  };
  const all = { store: { url: database.url }, ...shared };
  const config = join(folder, 'settings.yaml');
  writeFileSync(config, JSON.stringify(all, null, 2));
  const members = new Set<Member>();
  let homes = 0;
  const home = (): string => {
    homes += 1;
    const path = join(folder, `home-${homes}`);
    mkdirSync(path);
    return path;
  };
  return {
    token,
    storeUrl: database.url,
    members: () => [...members],
    async start(role, port = 0, { settings: other, env } = {}) {
      const data = home();
      const own = other === undefined ? config : join(data, 'settings.yaml');
      if (other !== undefined) writeFileSync(own, JSON.stringify({ ...all, ...other }));
      const member = await startMember(
        role,
        ['--data', data, '--config', own, '--port', String(port)],
        env,
      );
      members.add(member);
      const { end } = member;
      return Object.assign(member, {
        end: (signal?: NodeJS.Signals) => {
          members.delete(member);
          return end(signal);
        },
      });
    },
    async get({ address }, path) {
      const headers = { authorization: `Bearer ${token}` };
      const response = await fetch(`${address}${path}`, { headers });
      return { status: response.status, body: await response.text() };
    },
    async command(...args) {
      const child = launch([...args, '--data', home(), '--config', config]);
      const [code] = await once(child.process, 'close');
      return { code, out: child.words() };
    },
    async close() {
      await Promise.all([...members].map((member) => member.end('SIGKILL')));
      await database.drop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Starts a process and waits for its first words; `env` is added to this one's. */
export async function startMember(
  role: Member['role'],
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Member> {
  const child = launch([role, ...args], env);
  const ended = once(child.process, 'close');
  let isOver = false;
  void ended.then(() => {
    isOver = true;
  });
  const deadline = Date.now() + START_WITHIN_MS;
  while (!child.words().includes('Stop with Ctrl-C')) {
    if (isOver || Date.now() > deadline) {
      child.process.kill('SIGKILL');
      throw new Error(`parley ${role} did not start:\n${child.words()}`);
    }
    await new Promise((wake) => setTimeout(wake, 20));
  }
  const [, address = ''] = /(?:Chat now|Address) +(http:\/\/[^/\s]+)/.exec(child.words()) ?? [];
  return {
    role,
    pid: child.process.pid ?? 0,
    address,
    words: child.words,
    signal: (signal) => void child.process.kill(signal),
    async end(signal = 'SIGTERM') {
      const asked = Date.now();
      child.process.kill(signal);
      const [code, by] = await ended;
      return { code: by ?? code, ms: Date.now() - asked };
    },
  };
}

function launch(
  args: readonly string[],
  added: Readonly<Record<string, string>> = {},
): { process: ChildProcess; words(): string } {
  const { PARLEY_HOME: _home, ...env } = process.env;
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...env, ...added },
  });
  let words = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      words += text;
    });
  }
  return { process: child, words: () => words };
}
