import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDueToday } from '@parley/core/testing';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { createWebClient } from '../e2e/web-client.ts';
import { createFreshDatabase, type FreshDatabase } from '../services/fresh-database.ts';
import { type ParleyService, readCompose } from './compose-file.ts';
import { type Member, startMemberInProcess, startSeparateMember } from './member.ts';

const [redisUrl, postgresUrl] = [inject('redisUrl'), inject('postgresUrl')];
const TOKEN = randomBytes(24).toString('hex');
/** The address inside a container; in the tests, each process listens on a separate port. */
const INSIDE = '127.0.0.1:7411';

describe('the compose files', () => {
  it('[D09] define a single container, or gateways and workers with their servers and one workspace', () => {
    const alone = readCompose('docker-compose.embedded.yml');
    expect(alone.parley.map(({ command }) => command[0])).toEqual(['start']);
    expect(alone.others).toEqual([]);
    const { parley, others } = readCompose('docker-compose.yml');
    const roles = parley.flatMap(({ command, replicas }) => Array(replicas).fill(command[0]));
    expect(roles).toEqual(['gateway', 'gateway', 'worker', 'worker']);
    expect(others).toEqual(['postgres', 'redis']);
    for (const { environment, isReadOnly, volumes } of [...parley, ...alone.parley]) {
      expect(volumes).toEqual([`home:${environment.PARLEY_HOME}`]);
      expect(isReadOnly).toBe(true);
    }
  });
});

describe.runIf(redisUrl && postgresUrl)('the deployment in docker-compose.yml', () => {
  const { parley, settings } = readCompose('docker-compose.yml');
  const home = mkdtempSync(join(tmpdir(), 'parley-compose-'));
  /**
   * The first container of each service is a real process, started with the arguments in the file;
   * a normal run tests only one service.
   */
  const members: Member[] = [];
  const processes: { readonly address: string; readonly service: ParleyService }[] = [];
  const discards: (() => Promise<unknown>)[] = [];
  let database: FreshDatabase;
  beforeAll(async () => {
    database = await createFreshDatabase(postgresUrl ?? '');
    const file = join(home, 'settings.yaml');
    writeFileSync(join(home, 'token.secret'), TOKEN);
    writeFileSync(file, withAddresses(settings, database.url, home));
    await Promise.all(parley.map((service, nth) => start(service, file, isDueToday(nth, 2))));
  }, 120_000);
  afterAll(async () => {
    await Promise.all(discards.map((discard) => discard()));
    await database.drop();
    rmSync(home, { recursive: true, force: true });
  });

  async function start(service: ParleyService, file: string, isApart: boolean): Promise<void> {
    const [role, ...args] = service.command;
    if (role !== 'gateway' && role !== 'worker') throw new Error(`no role: ${role}`);
    const own = args.map((word) => (word === '/settings.yaml' ? file : word));
    // A shared volume is represented by a shared folder.
    const env = { ...service.environment, PARLEY_HOME: home };
    if (isApart) {
      const first = await startSeparateMember(role, [...own, '--port', '0'], env);
      members.push(first);
      processes.push({ address: first.address, service });
      discards.push(() => first.end('SIGKILL'));
    }
    for (let replica = isApart ? 1 : 0; replica < service.replicas; replica += 1) {
      const next = await startMemberInProcess(role, { data: home, config: file, port: 0 });
      members.push(next);
      discards.push(next.end);
    }
  }

  it('[D09] shows each answer at every gateway, whichever gateway received the question', async () => {
    const gateways = members
      .filter(({ role }) => role === 'gateway')
      .map(({ address }) => createWebClient({ address, token: TOKEN }));
    expect(gateways).toHaveLength(2);
    for (const [index, gateway] of gateways.entries()) await gateway.post(`question ${index}`);
    for (const gateway of gateways) {
      await expect.poll(() => gateway.history(), { timeout: 30_000 }).toHaveLength(4);
    }
  });

  it('[D10] is healthy according to its own health checks, and shows metrics only with the token', async () => {
    for (const { address, service } of processes) {
      const [how, program = '', ...args] = service.healthcheck;
      expect([how, program]).toEqual(['CMD', 'node']);
      const here = args.map((word) => word.replace(INSIDE, new URL(address).host));
      expect(here).not.toEqual(args);
      const [code] = await once(spawn(process.execPath, here, { stdio: 'inherit' }), 'close');
      expect(code).toBe(0);
    }
    for (const { address } of members) {
      expect((await fetch(`${address}/metrics`)).status).toBe(401);
      const headers = { authorization: `Bearer ${TOKEN}` };
      const metrics = await fetch(`${address}/metrics`, { headers });
      expect(await metrics.text()).toContain('# TYPE parley_');
    }
  });
});

/**
 * Replaces only addresses and paths of secrets; the prefix separates the keys in a shared Redis.
 */
function withAddresses(settings: string, databaseUrl: string, secrets: string): string {
  const here = settings.replace('/run/secrets/token', join(secrets, 'token.secret'));
  const { http, store, queue, ...rest } = parse(here);
  expect(store.url).toContain('file:/run/secrets/postgres');
  return stringify({
    ...rest,
    http: { ...http, host: '127.0.0.1' },
    store: { ...store, url: databaseUrl },
    queue: { ...queue, url: redisUrl, prefix: `test-${randomBytes(8).toString('hex')}` },
  });
}
