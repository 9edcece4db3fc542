import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { listSouls } from './commands/soul.ts';
import { announceGateway, locateDataFolder } from './data-folder.ts';

it.each<[string, RequestListener]>([
  ['whose answer has another format', (_request, response) => response.end('{}')],
  [
    'that has the group, but not the operation',
    (_request, response) =>
      response
        .writeHead(404, { 'content-type': 'application/json' })
        .end('{"error": "There is no operation soul/list.", "code": "no-operation"}'),
  ],
  [
    'that does not have the group',
    (_request, response) => response.writeHead(404).end('There is nothing at /api/soul/list.'),
  ],
])('[U03] gives advice if the gateway has another version, %s', async (_how, answer) => {
  const path = mkdtempSync(join(tmpdir(), 'parley-api-'));
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const folder = locateDataFolder(path, {});
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    announceGateway(folder, `http://127.0.0.1:${address.port}`);
    const asked = listSouls({ folder, env: {}, print: () => {} });
    await expect(asked).rejects.toMatchObject({
      code: 'status-unanswered',
      message: expect.stringMatching(/may be running another version of Parley. Restart it/),
    });
  } finally {
    server.close();
    rmSync(path, { recursive: true });
  }
});
