import { relative, sep } from 'node:path';
import type { TestProject } from 'vitest/node';
import { buildBundle } from './bundle.ts';
import { startChromium } from './chromium.ts';
import { findTool } from './find-program.ts';
import { useMemoryFolder } from './memory-folder.ts';
import { listNeeds } from './needs.ts';
import { startPostgres } from './postgres.ts';
import { useListedPrograms } from './program-folder.ts';
import { PROGRAMS, SERVICE_NAMES, type ServiceName } from './programs.ts';
import type { MissingService, ServiceStart } from './provided.ts';
import { startRedis } from './redis.ts';

/**
 * Servers are started once for all tests; for every other program in the list, a test gets its
 * path.
 */
const START: Partial<Record<ServiceName, () => Promise<ServiceStart>>> = {
  redis: startRedis,
  postgres: startPostgres,
  chromium: startChromium,
};

/**
 * Starts what the chosen test files need, in parallel, and provides the addresses to the tests.
 * Returns the teardown. Services that no file needs cost nothing.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const files = project.vitest.state.getPaths();
  // These tests start programs as users do, so the programs must be built from the current sources.
  if (files.some((file) => isInTestFolder(file, project.config.root))) await buildBundle();
  const needed = new Set(files.flatMap(listNeeds));
  const leaveMemoryFolder = useMemoryFolder();
  const missing: MissingService[] = [];
  const stops: (() => Promise<void>)[] = [];
  await Promise.all(
    SERVICE_NAMES.map(async (service) => {
      const { key } = PROGRAMS[service];
      project.provide(key, null);
      if (!needed.has(service)) return;
      const started = await (START[service] ?? (() => findTool(service)))();
      if (started.state === 'missing') {
        const { reason, canInstall = false } = started;
        missing.push({ service, reason, canInstall });
        return;
      }
      stops.push(started.stop);
      project.provide(key, started.value);
    }),
  );
  project.provide('missingServices', missing);
  const leaveListedPrograms = useListedPrograms();
  return async () => {
    leaveListedPrograms();
    await Promise.all(stops.map((stop) => stop()));
    leaveMemoryFolder();
  };
}

function isInTestFolder(file: string, root: string): boolean {
  return relative(root, file).startsWith(`test${sep}`);
}
