import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { locateDataFolder } from '../data-folder.ts';
import { checkConfig } from './config.ts';

const path = mkdtempSync(join(tmpdir(), 'parley-config-'));
afterAll(() => rmSync(path, { recursive: true }));

/** Returns the output and exit code of `parley config check` for a settings file. */
async function check(yaml: string): Promise<{ readonly code: number; readonly text: string }> {
  writeFileSync(join(path, 'parley.yaml'), yaml);
  const lines: string[] = [];
  const cli = {
    folder: locateDataFolder(path, {}),
    env: {},
    print: (line: string) => void lines.push(line),
  };
  const code = await checkConfig(cli);
  return { code, text: lines.join('\n') };
}

describe('[D12] parley config check', () => {
  it('accepts ids in any form that people write', async () => {
    const { code, text } = await check(
      'owners: ["whatsapp:+49 1511 234567"]\nchannels: { whatsapp: { access: { allow: ["0049 1511 234567"] } } }\n',
    );
    expect(text).toContain('is fine');
    expect(code).toBe(0);
  });

  it('reports ids that can never match, with their line, the value found and advice for finding the right id', async () => {
    const { code, text } = await check(
      'owners: ["telegram:@ann"]\nchannels: { telegram: { token: "1:a", access: { allowGroups: ["my group"] } } }\n',
    );
    expect(code).toBe(1);
    expect(text).toContain('owners[0] can never have an effect (line 1');
    expect(text).toContain('found:    "telegram:@ann"');
    expect(text).toMatch(/expected: .*numeric user id.*@name.*\/whoami/);
    expect(text).toMatch(/channels\.telegram\.access\.allowGroups\[0\] can never have an effect/);
    expect(text).toContain('Parley will start, but 2 settings have no effect.');
  });

  it('reports a rule that names an unknown tool', async () => {
    const { code, text } = await check('tools: { block: [web-fetch] }\n');
    expect(code).toBe(1);
    expect(text).toContain('tools.block[0] can never have an effect');
    expect(text).toContain('did you mean: web_fetch');
  });
});
