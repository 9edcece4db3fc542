import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StartOptions } from '@parley/cli';
import { runCommand } from '../e2e/parley-process.ts';
import { createFreshDatabase, type FreshDatabase } from '../services/fresh-database.ts';
import {
  type Member,
  type MemberRole,
  type SeparateMember,
  startMemberInProcess,
  startSeparateMember,
} from './member.ts';

/** Gateways and workers with a dedicated database and workspace, and a key prefix in Redis. */
export interface Deployment {
  readonly token: string;
  /** The URL of the shared database. */
  readonly storeUrl: string;
  /** Starts a gateway or worker in the test's process, on a free port unless a port is given. */
  start(
    role: MemberRole,
    port?: number,
    how?: { readonly settings?: object; readonly clock?: StartOptions['clock'] },
  ): Promise<Member>;
  /** Starts a gateway or worker in a separate process, which can be killed or stopped. */
  startApart(
    role: MemberRole,
    how?: { readonly settings?: object; readonly env?: Readonly<Record<string, string>> },
  ): Promise<SeparateMember>;
  /** The gateways and workers that are running. */
  members(): readonly Member[];
  get(member: Member, path: string): Promise<{ readonly status: number; readonly body: string }>;
  /** Runs a command on a data folder without a gateway, and returns its output. */
  command(...args: string[]): Promise<{ readonly code: number | string; readonly out: string }>;
  close(): Promise<void>;
}

/** The addresses of the services. */
export interface ServiceAddresses {
  readonly redisUrl: string;
  readonly postgresUrl: string;
}

/** Opens a deployment with these settings; no process runs yet. */
export async function openDeployment(
  services: ServiceAddresses,
  settings: object,
): Promise<Deployment> {
  const database: FreshDatabase = await createFreshDatabase(services.postgresUrl);
  const folder = mkdtempSync(join(tmpdir(), 'parley-distributed-'));
  const token = randomBytes(24).toString('hex');
  const all = {
    store: { url: database.url },
    http: { token },
    agent: { workspace: join(folder, 'workspace') },
    queue: { url: services.redisUrl, prefix: `test-${randomBytes(8).toString('hex')}` },
    ...settings,
  };
  const shared = join(folder, 'settings.yaml');
  writeFileSync(shared, JSON.stringify(all, null, 2));
  /** Stops all gateways and workers as fast as possible. */
  const living = new Map<Member, () => Promise<unknown>>();
  let homes = 0;
  /** Creates a separate data folder, with the shared settings or with changed settings. */
  const place = (other?: object): { readonly data: string; readonly config: string } => {
    homes += 1;
    const data = join(folder, `home-${homes}`);
    mkdirSync(data);
    if (other === undefined) return { data, config: shared };
    const config = join(data, 'settings.yaml');
    writeFileSync(config, JSON.stringify({ ...all, ...other }));
    return { data, config };
  };
  return {
    token,
    storeUrl: database.url,
    members: () => [...living.keys()],
    async start(role, port = 0, { settings: other, clock } = {}) {
      const member = await startMemberInProcess(role, { ...place(other), port, clock });
      const { end } = member;
      living.set(member, end);
      return Object.assign(member, {
        end: () => {
          living.delete(member);
          return end();
        },
      });
    },
    async startApart(role, { settings: other, env } = {}) {
      const { data, config } = place(other);
      const args = ['--data', data, '--config', config, '--port', '0'];
      const member = await startSeparateMember(role, args, env);
      const { end } = member;
      living.set(member, () => end('SIGKILL'));
      return Object.assign(member, {
        end: (signal?: NodeJS.Signals) => {
          living.delete(member);
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
      const { data, config } = place();
      const { code, out, err } = await runCommand([...args, '--data', data, '--config', config]);
      return { code, out: `${out}${err}` };
    },
    async close() {
      await Promise.all([...living.values()].map((discard) => discard()));
      await database.drop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
