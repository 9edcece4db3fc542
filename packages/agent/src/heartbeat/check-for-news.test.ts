import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createPromptFiles, openWorkspace } from '@parley/workspace';
import { afterEach, describe, expect, it } from 'vitest';
import { newsChecker } from './check-for-news.ts';

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

const fetching = (port: number) => ({
  fetch: {
    ...{ enabled: true, approval: 'never' as const, ports: [port], seconds: 5 },
    ...{ maxMb: 0.01, maxCharacters: 100 },
  },
  search: { results: 1 },
});
const loopback = { resolve: async () => ['127.0.0.1'], isAllowed: () => true };

async function commands() {
  const folder = mkdtempSync(join(tmpdir(), 'parley-check-'));
  closing.push(() => rmSync(folder, { recursive: true, force: true }));
  const workspace = await openWorkspace({ folder: join(folder, 'w'), templates: folder });
  const limits = {
    seconds: 5,
    maxSeconds: 5,
    maxCharacters: 1_000,
    processes: 20,
    memoryMb: 200,
    diskMb: 200,
  };
  const promptFiles = createPromptFiles([]);
  return {
    approval: 'ask' as const,
    network: false,
    workspace,
    promptFiles,
    forbidden: [],
    ...limits,
  };
}

describe('what a standing task looks at first', () => {
  it('[H02] is the text of a page, however it is dressed', async () => {
    let body = '<h1>Two letters</h1>';
    const server = createServer((_request, response) => {
      response.setHeader('content-type', 'text/html').end(body);
    }).listen(0, '127.0.0.1');
    closing.push(() => server.close());
    await once(server, 'listening');
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const checker = newsChecker({ web: fetching(port), rules: loopback });
    const check = { kind: 'url', url: `http://mail.example:${port}/` } as const;
    expect(checker.whyNot(check)).toBeNull();
    const first = await checker.look(check);
    body = '<h1 class="new">Two letters</h1><!-- 12:00 -->';
    expect(await checker.look(check)).toBe(first);
    body = '<h1>Three letters</h1>';
    expect(await checker.look(check)).not.toBe(first);
    body = 'x'.repeat(20_000);
    await expect(checker.look(check)).rejects.toThrow();
  });

  it('[G06] [H02] is never a private address', async () => {
    const checker = newsChecker({ web: fetching(80) });
    await expect(checker.look({ kind: 'url', url: 'http://127.0.0.1/' })).rejects.toThrow();
    const metadata = { kind: 'url', url: 'http://169.254.169.254/' } as const;
    await expect(checker.look(metadata)).rejects.toThrow();
  });

  it('[G06] [H02] [W09] is what a command prints, in the sandbox', async () => {
    const exec = await commands();
    const checker = newsChecker({ exec });
    writeFileSync(join(exec.workspace.folder, 'mail.txt'), 'two letters');
    writeFileSync(join(exec.workspace.folder, 'MEMORY.md'), 'canary');
    const check = (command: string) => checker.look({ kind: 'command', command });
    expect(await check('cat mail.txt; cp MEMORY.md leak.md')).toContain('two letters');
    const guest = exec.workspace.for({ kind: 'guest', conversationId: 'c' });
    expect(await guest.read('leak.md')).toMatchObject({ reason: 'private' });
    await expect(check('cat /etc/shadow')).rejects.toThrow('exit code');
    await expect(check('sleep 30')).rejects.toThrow('by Parley: time');
  });

  it('[G06] [H02] is no command and no page where these are switched off, and says so', () => {
    const checker = newsChecker({});
    expect(checker.whyNot({ kind: 'command', command: 'ls' })).toContain('exec.enabled');
    expect(checker.whyNot({ kind: 'url', url: 'https://a.b/' })).toContain('web.fetch.enabled');
  });
});
