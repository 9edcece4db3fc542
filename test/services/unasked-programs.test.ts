import { execSync, spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { findTool } from './find-program.ts';
import { PROGRAMS, SERVICE_NAMES } from './programs.ts';

// This file does not declare any program.
describe('a program that a test file does not declare', () => {
  it.each(SERVICE_NAMES)(
    '[U09] appears to be missing, even in a shell, whatever is installed: %s',
    async (service) => {
      expect(await findTool(service)).toMatchObject({ state: 'missing' });
      const { names }: { names: readonly string[] } = PROGRAMS[service];
      for (const name of names) {
        expect(spawnSync(name).error).toMatchObject({ code: 'ENOENT' });
        expect(() => execSync(`command -v '${name}'`, { stdio: 'pipe' })).toThrow();
      }
    },
  );
});
