import { readFileSync } from 'node:fs';
import { relative, sep } from 'node:path';
import type { TestProject } from 'vitest/node';
import { buildBundle } from './bundle.ts';
import { startChromium } from './chromium.ts';
import { findService } from './find-program.ts';
import { useMemoryFolder } from './memory-folder.ts';
import { findPgBouncer } from './pgbouncer.ts';
import { startPostgres } from './postgres.ts';
import {
  type MissingService,
  PROVIDED_KEYS,
  type ServiceName,
  type ServiceStart,
} from './provided.ts';
import { startRedis } from './redis.ts';

const START: Record<ServiceName, () => Promise<ServiceStart>> = {
  redis: startRedis,
  postgres: startPostgres,
  pgbouncer: findPgBouncer,
  chromium: startChromium,
  promtool: () => findTool('promtool', 'PARLEY_TEST_PROMTOOL'),
  systemdAnalyze: () => findTool('systemd-analyze', 'PARLEY_TEST_SYSTEMD_ANALYZE'),
};
const SERVICES: readonly ServiceName[] = [
  ...(['redis', 'postgres', 'pgbouncer', 'chromium', 'promtool', 'systemdAnalyze'] as const),
];

function findTool(name: string, variable: string): Promise<ServiceStart> {
  return findService({ names: [name], folders: [], variable });
}

/**
 * Starts what the chosen test files ask for, all at once, and gives the addresses to the tests.
 * Returns the teardown. Services that are not asked for cost nothing.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const files = project.vitest.state.getPaths();
  // They start programs as users do, so these must be of the sources as they are now.
  if (files.some((file) => isOfTheWhole(file, project.config.root))) await buildBundle();
  const leaveMemoryFolder = useMemoryFolder();
  const missing: MissingService[] = [];
  const stops: (() => Promise<void>)[] = [];
  await Promise.all(
    SERVICES.map(async (service) => {
      project.provide(PROVIDED_KEYS[service], null);
      if (!files.some((file) => mayNeed(service, file, project.config.root))) return;
      const started = await START[service]();
      if (started.state === 'missing') {
        missing.push({ service, reason: started.reason });
        return;
      }
      stops.push(started.stop);
      project.provide(PROVIDED_KEYS[service], started.value);
    }),
  );
  project.provide('missingServices', missing);
  return async () => {
    await Promise.all(stops.map((stop) => stop()));
    leaveMemoryFolder();
  };
}

/** A test of a package names what it injects, and each that shows a page; others under `test/` may do so through a helper. */
function mayNeed(service: ServiceName, file: string, root: string): boolean {
  if (service !== 'chromium' && isOfTheWhole(file, root)) return true;
  return readFileSync(file, 'utf8').includes(PROVIDED_KEYS[service]);
}

function isOfTheWhole(file: string, root: string): boolean {
  return relative(root, file).startsWith(`test${sep}`);
}
