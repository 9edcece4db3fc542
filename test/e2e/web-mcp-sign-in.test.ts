import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type GuardedServer, startGuardedServer } from '@parley/tools/testing/guarded-server';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { z } from 'zod';
import { findPageFaults } from './page-faults.ts';
import { runCommand } from './parley-process.ts';
import { openView, startWebScene, type WebScene } from './web-scene.ts';

const Answer = z.object({
  session: z.string().optional(),
  url: z.string().optional(),
  error: z.string().optional(),
});
const chromiumUrl = inject('chromiumUrl');

describe.runIf(chromiumUrl)('[G03] [U03] an MCP server that requires a sign-in', () => {
  let scene: WebScene;
  let guarded: GuardedServer;
  beforeAll(async () => {
    guarded = await startGuardedServer();
    scene = await startWebScene(chromiumUrl ?? '', { mcp: { vault: { url: guarded.url } } });
  });
  afterAll(async () => {
    await scene.close();
    guarded.close();
  });
  const status = async () => (await runCommand(['--data', scene.folder.path, 'status'])).out;
  const secrets = () => join(scene.folder.path, 'secrets');

  it('has a button on the page, and connects after an owner has pressed it', async () => {
    await expect.poll(status, { interval: 300 }).toContain('vault: not connected – it asks for a');
    const page = await scene.open();
    await openView(page, 'Status');
    const button = page.getByRole('button', { name: 'Sign in to vault' });
    await button.waitFor();
    expect(await findPageFaults(page)).toEqual([]);
    // The double consents immediately and redirects the browser back.
    await button.click();
    await page.getByText('Signed in to vault.').waitFor();
    expect(page.url()).not.toMatch(/code=|state=/);
    await expect.poll(status, { interval: 300 }).toContain('vault: connected, 1 tools');
    await page.reload();
    await openView(page, 'Status');
    await page.getByText('Turns in the last 24 hours').waitFor();
    expect(await page.getByRole('button', { name: 'Sign in to vault' }).count()).toBe(0);
    await page.context().close();
  });

  it('[G18] has its tokens stored only in a file that no other user can read', async () => {
    const file = join(secrets(), 'mcp-vault.json');
    expect([statSync(secrets()).mode & 0o777, statSync(file).mode & 0o777]).toEqual([0o700, 0o600]);
    const { tokens } = JSON.parse(readFileSync(file, 'utf8'));
    expect(tokens.access).toMatch(/^access-/);
    const logs = join(scene.folder.path, 'logs');
    const logged = readdirSync(logs).map((name) => readFileSync(join(logs, name), 'utf8'));
    const shown = [...logged, await status()].join('\n');
    for (const secret of [tokens.access, tokens.refresh]) expect(shown).not.toContain(secret);
  });

  it('accepts the redirect only in the session that started the sign-in', async () => {
    guarded.revoke();
    const { address, token } = scene.parley;
    const asked = (path: string, body: object, session: string, origin = address) =>
      fetch(`${address}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${session}`, origin },
        body: JSON.stringify(body),
      });
    const read = async (answer: Promise<Response>) => Answer.parse(await (await answer).json());
    const newSession = async () =>
      (await read(asked('/api/sessions', { token }, token))).session ?? '';
    const [mine, other] = [await newSession(), await newSession()];
    const { url = '' } = await read(asked('/api/mcp/sign-in', { server: 'vault' }, mine));
    const back = Object.fromEntries((await guarded.agree(url)).searchParams);
    expect((await read(asked('/api/mcp/signed-in', back, other))).error).toBe(
      'This sign-in was started in another browser. Start it again here.',
    );
    expect((await asked('/api/mcp/signed-in', back, mine, 'https://evil.test')).status).toBe(403);
    expect((await asked('/api/mcp/signed-in', back, mine)).status).toBe(200);
    expect((await asked('/api/mcp/signed-in', back, mine)).status).toBe(400);
    expect((await asked('/api/mcp/sign-in', { server: 'none' }, mine)).status).toBe(400);
  });
});
