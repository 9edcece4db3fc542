import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createRecordingLogger } from '@parley/core/testing';
import { afterAll, beforeAll } from 'vitest';
import { loadPlugins } from '../load-plugins.ts';
import type { PluginChoice, PluginOutcome } from '../plugin.ts';

/** Creates a temporary folder outside Parley with settings and plugins, for tests. */
export function createPluginFolder() {
  let base = '';
  beforeAll(() => {
    base = mkdtempSync(join(tmpdir(), 'parley-plugins-'));
  });
  afterAll(() => rmSync(base, { recursive: true }));

  return {
    /** Returns a path in the folder. */
    path: (name: string) => join(base, name),
    write(file: string, text: string): void {
      mkdirSync(dirname(join(base, file)), { recursive: true });
      writeFileSync(join(base, file), text);
    },
    /** Loads the given plugins (folders, or choices with options) and records the log entries. */
    async load(plugins: readonly (string | PluginChoice)[], patienceMs = 10_000) {
      const { log, lines } = createRecordingLogger();
      const outcomes = await loadPlugins({
        plugins: plugins.map((use) => (typeof use === 'string' ? { use, options: {} } : use)),
        base,
        workspace: join(base, 'workspace'),
        log,
        clock: () => 0,
        taken: { tools: ['read'], channels: ['web'] },
        patienceMs,
      });
      return { outcomes, lines };
    },
  };
}

/** Returns the source code of a plugin whose setup runs the given code. */
export function createPluginSource(name: string, setup: string, more = ''): string {
  return `export const plugin = { name: '${name}', ${more} setup(options, host) { ${setup} } };`;
}

/** Returns the reason why a plugin does not work; throws if it works. */
export function getPluginFailureReason(outcome: PluginOutcome | undefined): string {
  if (outcome?.kind !== 'failed') throw new Error('expected a plugin that does not work');
  return outcome.reason;
}

/** Returns a plugin that works; throws if it does not. */
export function getLoadedPlugin(outcome: PluginOutcome | undefined) {
  if (outcome?.kind === 'loaded') return outcome;
  throw new Error(`expected a plugin that works: ${outcome?.reason}`);
}
