import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MCP_CHECK } from './mcp-checks.ts';

type Given = Parameters<typeof MCP_CHECK.run>[0];

let path: string;
beforeEach(() => {
  path = mkdtempSync(join(tmpdir(), 'parley-mcp-checks-'));
});
afterEach(() => rmSync(path, { recursive: true, force: true }));

const LINES = [
  { works: true, line: 'files: connected, 3 tools, 0 prompts' },
  { works: false, line: 'notes: not connected – it asks for a sign-in', signIn: 'notes' },
  { works: false, line: 'desk: not connected, retrying soon – nothing listens' },
];

async function findings(servers: readonly string[], runs = true) {
  const at = { address: 'http://127.0.0.1:8420', pid: 1 };
  const gateway = runs ? { kind: 'runs', at, status: { mcp: LINES } } : { kind: 'none' };
  const folder = { path, settingsFile: join(path, 'parley.yaml') };
  const mcp = Object.fromEntries(servers.map((name) => [name, { url: 'https://x.test/' }]));
  const facts = { folder, gateway, settings: { mcp } } as Given;
  return MCP_CHECK.run(facts, AbortSignal.timeout(1_000));
}

describe("[G03] [U02] the doctor's check of the MCP servers", () => {
  it('names the server that needs a sign-in and says where the button is', async () => {
    expect(await findings(['files', 'notes', 'desk'])).toMatchObject([
      { severity: 'ok', found: 'files: connected, 3 tools, 0 prompts' },
      {
        severity: 'warning',
        found: 'notes: not connected – it asks for a sign-in',
        advice:
          'As an owner, open http://127.0.0.1:8420 and click “Sign in” beside notes under Status.',
      },
      { severity: 'warning', advice: expect.stringContaining('Fix the reported problem') },
    ]);
  });

  it('skips the check without a running gateway, and omits it if no server is configured', async () => {
    expect(await findings(['files'], false)).toMatchObject([{ severity: 'skipped' }]);
    expect(await findings([])).toEqual([]);
  });

  it('reports the sign-in for a server that was removed from the settings', async () => {
    mkdirSync(join(path, 'secrets'));
    for (const name of ['mcp-old.json', 'mcp-notes.json', 'web-token']) {
      writeFileSync(join(path, 'secrets', name), '{}');
    }
    const [, found, ...others] = await findings(['notes'], false);
    expect(found).toMatchObject({
      severity: 'warning',
      found: 'secrets/mcp-old.json is a sign-in for a server that is not in the settings',
      advice: 'Revoke the access at that server and delete the file.',
    });
    expect(others).toEqual([]);
  });
});
