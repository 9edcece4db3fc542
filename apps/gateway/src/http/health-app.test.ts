import { recordingLogger } from '@parley/contracts';
import { describe, expect, it } from 'vitest';
import { createHealthApp } from './health-app.ts';

const TOKEN = 'secret-token-of-all-processes-1234';
const HOST = '127.0.0.1:7411';

function get(path: string, headers: Record<string, string> = {}, ping = async () => {}) {
  const { log } = recordingLogger();
  const metrics = async () => 'parley_up 1\n';
  const app = createHealthApp({
    host: '127.0.0.1',
    clock: () => 0,
    token: () => TOKEN,
    log,
    metrics,
    ping,
  });
  return app.request(`http://${HOST}${path}`, { headers: { host: HOST, ...headers } });
}

describe('the web server of a worker', () => {
  it('[D10] tells everybody whether it lives and whether it is ready', async () => {
    expect((await get('/healthz')).status).toBe(200);
    expect((await get('/readyz')).status).toBe(200);
    const away = () => Promise.reject(new Error('away'));
    expect((await get('/readyz', {}, away)).status).toBe(503);
    expect((await get('/healthz', {}, away)).status).toBe(200);
  });

  it('[D10] shows its figures to whoever has the token', async () => {
    expect((await get('/metrics')).status).toBe(401);
    const shown = await get('/metrics', { authorization: `Bearer ${TOKEN}` });
    expect(await shown.text()).toBe('parley_up 1\n');
  });

  it.each(['/', '/api/status', '/channels/web/default/history'])(
    '[D09] has no %s: that is at a gateway',
    async (path) => {
      const answer = await get(path, { authorization: `Bearer ${TOKEN}` });
      expect(answer.status).toBe(404);
      expect(await answer.text()).toContain('at a gateway');
    },
  );
});
