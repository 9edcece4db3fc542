import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

/** A process that asks the offline model and prints every module it loaded. */
const SCRIPT = `
import { registerHooks } from 'node:module';
const loaded = [];
registerHooks({ load(url, context, next) { loaded.push(url); return next(url, context); } });
const { createChatModel, ModelSettings } = await import('@parley/models');
const { silentLogger } = await import('@parley/core');
const time = { clock: Date.now, monotonic: () => performance.now() };
const deps = { settingsFile: 's', ...time, logger: silentLogger, localServers: [] };
const { model } = createChatModel(ModelSettings.parse('auto'), deps);
const request = { system: [], messages: [{ role: 'user', content: 'hi' }] };
for await (const event of model.stream(request, new AbortController().signal)) {
  if (event.type === 'finish') loaded.push('answered');
}
console.log(JSON.stringify(loaded));
`;

describe('a start without a model', () => {
  it('[G01] answers without loading the AI SDK', async () => {
    const run = promisify(execFile);
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', SCRIPT], {
      cwd: import.meta.dirname,
    });
    const loaded: string[] = JSON.parse(stdout);
    expect(loaded).toContain('answered');
    expect(loaded.filter((url) => /node_modules\/(ai|@ai-sdk)\//.test(url))).toEqual([]);
  });
});
